ASSEMBLER := sdas6808

# Variables from the beginning of RAM, those of page zero first; the stack down from its last byte, which is --stack-loc:
# sdcc's start-up loads one more, and TXS puts one less into SP (CPU08RM, TXS).
RAM_END := $(shell echo $$(($(call memory,SRAM_START) + $(call memory,SRAM_SIZE))))
LINK_FLAGS := --code-loc $(call memory,FLASH_START) --data-loc $(call memory,SRAM_START) \
              --stack-loc $(shell echo $$(($(RAM_END) - 1)))

# The linker knows no end of RAM for this processor: the variables, XISEG the last of them, must leave STACK bytes.
STACK := 48
CHECK = awk '$$3 == "s_XISEG" || $$3 == "l_XISEG" { print "0x" $$2 }' $(B)/obj/$(APP)/$*.map | { \
	read -r start; read -r length; [ $$((start + length + $(STACK))) -le $(RAM_END) ] || \
	{ echo "$*: variables end at $$((start + length)), the stack's $(STACK) bytes begin at $$(($(RAM_END) - $(STACK)))" >&2; exit 1; }; }

OPTIMISE_portable :=
OPTIMISE_small := --opt-code-size
OPTIMISE_fast := --opt-code-speed
