ASSEMBLER := sdas6808

# Variables from the beginning of RAM, those of page zero first; the stack down from its last byte, which is --stack-loc:
# sdcc's start-up loads one more, and TXS puts one less into SP (CPU08RM, TXS).
RAM_END := $(shell echo $$(($(call memory,SRAM_START) + $(call memory,SRAM_SIZE))))
LINK_FLAGS := --code-loc $(call memory,FLASH_START) --data-loc $(call memory,SRAM_START) \
              --stack-loc $(shell echo $$(($(RAM_END) - 1)))

CODE_MEMORIES := FLASH VECTORS

# Variables in page zero must end there, and the last of the others, XISEG, must leave STACK bytes to the stack.
STACK := 48
AREA_ENDS := DSEG 0x100 OSEG 0x100 XISEG $(shell echo $$(($(RAM_END) - $(STACK))))

OPTIMISE_portable :=
OPTIMISE_small := --opt-code-size
OPTIMISE_fast := --opt-code-speed

# With fewer of sdcc's optimisations the temporaries of the verifications of SLH-DSA and HSS fit into page zero beside those of SHA-256, which is
# C in portable and small.
OPTIMISE_slh_dsa_steps := --noinvariant
OPTIMISE_slh_dsa_verify := $(OPTIMISE_slh_dsa_steps) --noinduction --nolospre
OPTIMISE_lms := $(OPTIMISE_slh_dsa_verify)
OPTIMISE_hss := $(OPTIMISE_slh_dsa_verify) --nogcse
