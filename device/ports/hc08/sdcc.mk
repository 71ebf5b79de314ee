ASSEMBLER := sdas6808

# Variables from the beginning of RAM, those of page zero first; the stack down from its last byte, which is --stack-loc:
# sdcc's start-up loads one more, and TXS puts one less into SP (CPU08RM, TXS).
LINK_FLAGS := --code-loc $(call memory,FLASH_START) --data-loc $(call memory,SRAM_START) \
              --stack-loc $(shell echo $$(($(call memory,SRAM_START) + $(call memory,SRAM_SIZE) - 1)))

OPTIMISE_portable :=
OPTIMISE_small := --opt-code-size
OPTIMISE_fast := --opt-code-speed
