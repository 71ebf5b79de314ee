# gcc, and clang with lld: one section for each function and variable, and a linker that drops what is not used.

# What is to be as small as it can be: only clang has a step below -Os that is smaller, which the
# bootloader needs, too.
SMALLEST := $(if $(COMPACT)$(if $(filter clang,$(CC)),$(filter boot,$(APP))),-Oz,-Os)
OPTIMISE_portable := -O2
OPTIMISE_O0 := -O0
OPTIMISE_small := -Os
OPTIMISE_fast := $(if $(COMPACT),$(SMALLEST),-O3)
OPTIMISE_nompy := -O3
OPTIMISE_mpy16 := -O3
OPTIMISE_mpy32 := -O3

# Code that takes little time itself, because it calls what does, is small in fast variants too; and SHA-512, whose words of 64 bits
# take twice the code with -O3, and on AVR and Cortex-M0 more time.
CALLERS := aes_sliced ascon_aead128 ascon_hash ascon_state chacha20_poly1305 drbg ecdsa_p256 ecdsa_p384 ecdsa_secp160r1 ecies ecies_ecdsa ecies_steps ed25519 ed25519_law ed25519_points ed25519_scalars ed25519_verify hkdf hmac hmac_drbg_sha1 hmac_drbg_sha256 hmac_drbg_sha384 hmac_sha1 hmac_sha384 ml_dsa_sample oms_kdf oms_telegram \
	ml_kem_512 ml_kem_768 ml_kem_pieces number p192 p224 p256 p256_law p256_ml_kem_512 p256_points p384 p384_law p384_points secp160r1 secp160r1_law secp160r1_points single_step_kdf sha3 sha512 sha512_blocks x25519 x25519_ladder x25519_ml_kem_512 x25519_ml_kem_768 x25519_powers x25519_squares x963_kdf
OPTIMISE = $(if $(filter $1,$(CALLERS)),$(OPTIMISE_$(VARIANT):-O3=-Os),$(OPTIMISE_$(VARIANT)))

# Relative paths only, and no command line recorded: the same sources give the same bytes wherever the clone lies.
# For the MSP430 clang 14 writes location lists that lld cannot relocate, so there it is functions and lines alone.
ifeq ($(CC),clang)
DEBUG := -gdwarf-4 -gline-tables-only
else
DEBUG := -gdwarf-4 -gno-record-gcc-switches
endif
FLAGS := $(TOOLCHAIN_flags) $(DEBUG) -fdebug-prefix-map=$(CURDIR)=device
# What multiplies in C where the MSP430 has no instruction for it: clang calls routines of the runtime by other names.
ifeq ($(TOOLCHAIN_port),msp430)
HARDWARE_MULTIPLIER_nompy := none
HARDWARE_MULTIPLIER_mpy16 := 16bit
FLAGS += -mhwmult=$(or $(HARDWARE_MULTIPLIER_$(VARIANT)),f5series)
endif
# Small on the AVR: what functions save and bring back is done by routines that they share, calls within 4 kB are relative, and
# crypto/compiler.h says what else.
ifeq ($(TOOLCHAIN_port) $(VARIANT),avr small)
FLAGS += -mcall-prologues -mrelax -mstrict-X -fno-tree-dominator-opts -fno-move-loop-invariants -DWS_SMALL=1
RELAX := --relax
endif
# Where flash is to be had for time, and the kernels decrypt by keys of their own.
ifeq ($(TOOLCHAIN_port) $(VARIANT),cortex-m fast)
FLAGS += -DWS_COMB_TABLES=4 -DWS_AES_PREPARED=1
endif
ifneq ($(filter secret_fast,$(KERNEL_NAMES)),)
FLAGS += -DWS_WIPE_BY_WORDS=1
endif
# Where there are no kernels in assembly, the compiler keeps words of secrets in frames: crypto/compiler.h.
ifneq ($(filter portable O0,$(VARIANT))$(if $(wildcard $(KERNELS)/keccak_permutation_fast.S),,none),)
FLAGS += -DWS_SPILLS=1
endif
CFLAGS := $(FLAGS) -std=c99 -ffreestanding -ffunction-sections -fdata-sections $(WARNINGS) -Icrypto
# Start-up and compiler runtime are the same in every variant.
PORT_CFLAGS := $(CFLAGS) -O2

# What start-up leaves unused is dropped; the bench's variables stay, whether the operation needs them or not.
LINK_FLAGS := --gc-sections $(RELAX) --fatal-warnings -T $(OBJ)/$(APP)/device.ld $(KEEP:%=-u %)
comma := ,
ifeq ($(CC),clang)
LINK = ld.lld $(LINK_FLAGS) -o $@ $(filter %.o,$^)
PORT_CFLAGS += -fno-builtin
else
LINK = $(CC) $(TOOLCHAIN_flags) -nostdlib -Wl,$(subst $(space),$(comma),$(strip $(LINK_FLAGS))) -o $@ $(filter %.o,$^) -lgcc
PORT_CFLAGS += -fno-tree-loop-distribute-patterns
endif

# Port files named <something>_<family> are for that family alone, the others for all.
FAMILY := $(TOOLCHAIN_family)
of_family = $(foreach file,$1,$(if $(findstring _,$(notdir $(file))),$(if $(FAMILY),$(filter %_$(FAMILY).c %_$(FAMILY).S,$(file))),$(file)))
PORT_FILES := $(call of_family,$(wildcard ports/memory.c $(PORT)/*.c $(PORT)/*.S))
RUNTIME := $(patsubst ports/%,$(OBJ)/ports/%.o,$(PORT_FILES))

# An app's files beside main.c, and the drivers of the target's board where it uses any: all that its files include from drivers/
# has to be implemented, which is what a driver says by including the same. Drivers have the wiring from the board's file. The port has its drivers in a folder, those for one app
# alone in drivers/<app>; in ports/shared are those that several ports have, most for chips on their boards.
SHARED_msp430 := cc2500 fm25 noise provision stack
SHARED_cortex-m := $(SHARED_msp430)
# The meter as others read it has parts of the meter, and its drivers.
BASE := $(if $(filter oms,$(APP)),meter,$(APP))
SHARED_FILES := $(if $(filter oms,$(APP)),$(addprefix meter/,metering.c metering_add.c numbers.c record.c))
# A part that the port has in assembly, ports/<port>/<app>/<part>.S, replaces the C file.
PORT_PARTS := $(wildcard $(PORT)/$(BASE)/*.S)
PART_FILES := $(filter-out $(APP)/main.c $(PORT_PARTS:$(PORT)/%.S=%.c),$(wildcard $(APP)/*.c) $(SHARED_FILES))
PARTS := $(patsubst %.c,$(OBJ)/$(APP)/parts/%.o,$(notdir $(PART_FILES)))
PARTS += $(patsubst ports/%,$(OBJ)/ports/%.o,$(PORT_PARTS))
# What the app needs of the part, ports/<port>/verify.
ifeq ($(APP),verify)
VERIFY_PORT := $(strip $(call of_family,$(wildcard $(PORT)/verify/*.c)))
ifeq ($(VERIFY_PORT),)
$(error APP=verify is not known for $(TARGET): it has no counter or no UART in ports/*/verify)
endif
PARTS += $(patsubst ports/%,$(OBJ)/ports/%.o,$(VERIFY_PORT))
endif
included = $(if $1,$(sort $(shell sed -n 's|^\#include ".*drivers/\([a-z_]*\)\.h"$$|\1|p' $1)))
USED := $(call included,$(wildcard $(APP)/*.[ch]) $(SHARED_FILES))
ifneq ($(USED),)
DRIVERS := $(if $(TOOLCHAIN_drivers),$(PORT)/$(TOOLCHAIN_drivers))
DRIVER_FILES := $(if $(DRIVERS),$(foreach folder,$(DRIVERS) $(DRIVERS)/$(BASE),$(wildcard $(folder)/*.c $(folder)/*.S)) \
	$(patsubst %,ports/shared/%.c,$(SHARED_$(TOOLCHAIN_port))))
MISSING := $(filter-out $(call included,$(DRIVER_FILES)),$(USED))
ifneq ($(MISSING),)
$(error APP=$(APP) is not known for $(TARGET): there are no drivers for $(MISSING))
endif
ifeq ($(WIRED),)
$(error APP=$(APP) is for boards, and there is none of $(TARGET) in boards/)
endif
DRIVER_OBJECTS := $(patsubst ports/%,$(OBJ)/ports/%.o,$(DRIVER_FILES))
PARTS += $(DRIVER_OBJECTS)
$(DRIVER_OBJECTS): WIRING := $(BOARD_FLAGS)
$(DRIVER_OBJECTS): $(OBJ)/wiring
endif

# The bootloader, and of it what an application reports in with (boot/boot.h) and takes an image with (boot/transfer.h); a program that is linked
# for one of its slots. The meter is linked without a bootloader, too.
BOOT_USERS := $(if $(SLOT)$(filter-out meter,$(APP)),$(wildcard $(APP)/*.[ch]),/dev/null)
boot_included = $(shell grep -l '^\#include ".*boot/$1\.h"$$' $(BOOT_USERS))
BOOT_PARTS := $(if $(call boot_included,boot),confirm journal running) $(if $(call boot_included,transfer),image transfer)
BOOT_PARTS := $(strip $(BOOT_PARTS))
ifneq ($(filter boot,$(APP))$(BOOT_PARTS)$(SLOT),)
ifeq ($(BOOT_PORT),)
$(error APP=$(APP) $(addprefix SLOT=,$(SLOT)) is not known for $(TARGET): there is no bootloader for it; there are: \
	$(patsubst ports/%,%,$(wildcard ports/*/boot/*)))
endif
ifeq ($(APP),boot)
BOOT_DEFINES := -DWS_BOOTLOADER
BOOT_FILES := $(wildcard $(BOOT_PORT)/*.c $(BOOT_PORT)/*.S) ports/shared/boot_key.S
BOOT_KEY_FILE := $(if $(BOOT_KEY),$(abspath $(BOOT_KEY)))
else
BOOT_DEFINES := $(if $(SLOT),-DWS_SLOT=$(if $(filter a,$(SLOT)),0,1))
BOOT_FILES := $(if $(BOOT_PARTS),$(BOOT_PORT)/flash.c) \
	$(if $(call boot_included,port),$(BOOT_PORT)/start.c)
endif
BOOT_CLOCK := $(if $(filter %/start.c,$(BOOT_FILES)),$(shell sed -n 's/^\#define WS_BOOT_CLOCK_HZ //p' $(BOOT_PORT)/layout.h))
BOOT_DEFINES += -I$(BOOT_PORT)
PARTS += $(BOOT_PARTS:%=$(OBJ)/boot/parts/%.o) $(patsubst ports/%,$(OBJ)/ports/%.o,$(BOOT_FILES))
$(OBJ)/$(APP)/%.o $(OBJ)/boot/%.o $(OBJ)/ports/%.o: PORT_CFLAGS += -I$(BOOT_PORT)
$(OBJ)/ports/%.S.o: FLAGS += $(BOOT_DEFINES)
$(OBJ)/ports/shared/boot_key.S.o: FLAGS += $(if $(BOOT_KEY_FILE),-DWS_BOOT_KEY='"$(BOOT_KEY_FILE)"')
$(OBJ)/ports/shared/boot_key.S.o: $(BOOT_KEY_FILE) $(OBJ)/$(APP)/settings
endif

C_FILES := $(call c_files,$(wildcard $(APP)/*.[ch]) $(SHARED_FILES) $(PORT_FILES) $(if $(USED),$(DRIVER_FILES)) $(BOOT_FILES) $(BOOT_PARTS:%=boot/%.c))
LIBRARY := $(C_FILES:%=$(OBJ)/crypto/%.o) $(KERNEL_NAMES:%=$(OBJ)/kernels/%.o)

PROGRAMS := $(WANTED:%=$(B)/%.elf)
SETTINGS := $(CFLAGS) | $(OPTIMISE_$(VARIANT)) | $(CALLERS)
APP_SETTINGS := $(SUITES_FLAGS) | $(MEMORIES) | $(BOOT_DEFINES) $(BOOT_KEY_FILE) | $(LINK_FLAGS) | $(LIBRARY) $(RUNTIME)

# C of these flags: compiled, or taken from where a build of the same sources has put it.
compile = $(if $(SOURCES),sh toolchains/stored $@ '$(SOURCES)' $(CC) $1 -c $<,$(CC) $1 -MMD -MP -c $< -o $@)

$(OBJ)/crypto/%.o: crypto/%.c $(OBJ)/settings
	@mkdir -p $(@D)
	$(call compile,$(CFLAGS) $(call OPTIMISE,$*))

$(OBJ)/kernels/%.o: $(KERNELS)/%.S $(OBJ)/settings
	@mkdir -p $(@D)
	$(CC) $(FLAGS) -Icrypto -MMD -MP -c $< -o $@

$(OBJ)/ports/%.c.o: ports/%.c $(OBJ)/settings $(OBJ)/clock
	@mkdir -p $(@D)
	$(call compile,$(PORT_CFLAGS) $(CLOCK_FLAGS) $(WIRING))

$(OBJ)/ports/%.S.o: ports/%.S $(OBJ)/settings $(OBJ)/clock
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(CLOCK_FLAGS) $(WIRING) -MMD -MP -c $< -o $@

# Drivers are small where all is.
ifneq ($(filter small,$(VARIANT))$(COMPACT),)
$(DRIVER_OBJECTS): PORT_CFLAGS := $(PORT_CFLAGS:-O2=$(SMALLEST))
endif

# The app's frame around the operation is the same in every variant, too.
$(OBJ)/$(APP)/%.o: $(APP)/main.c $(OBJ)/settings $(OBJ)/$(APP)/settings $(B)/obj/ops.mk
	@mkdir -p $(@D)
	$(call compile,$(PORT_CFLAGS) $(BENCH_FLAGS))

# Which suites the meter has, and that it takes images: of those its structures have parts.
$(OBJ)/meter/%.o: PORT_CFLAGS += $(SUITES_FLAGS) $(filter -DWS_SLOT=%,$(BOOT_DEFINES))

# What the sampler's interrupt calls leaves the hardware multiplier alone, which what it breaks into may be using.
ifeq ($(TOOLCHAIN_port),msp430)
$(OBJ)/$(APP)/parts/metering.o $(OBJ)/$(APP)/parts/metering_add.o: PORT_CFLAGS += -mhwmult=none
endif

$(OBJ)/$(APP)/parts/%.o: $(APP)/%.c $(OBJ)/settings $(OBJ)/$(APP)/settings
	@mkdir -p $(@D)
	$(call compile,$(PORT_CFLAGS:-O2=$(SMALLEST)))

ifneq ($(BASE),$(APP))
$(OBJ)/$(APP)/parts/%.o: meter/%.c $(OBJ)/settings $(OBJ)/$(APP)/settings
	@mkdir -p $(@D)
	$(call compile,$(PORT_CFLAGS:-O2=$(SMALLEST)))
endif

ifneq ($(BOOT_PARTS),)
$(OBJ)/boot/parts/%.o: boot/%.c $(OBJ)/settings
	@mkdir -p $(@D)
	$(call compile,$(PORT_CFLAGS:-O2=$(SMALLEST)))
endif

$(OBJ)/$(APP)/device.ld: $(PORT)/device.ld.in $(if $(BOOT_PORT),$(BOOT_PORT)/layout.h) $(OBJ)/$(APP)/settings
	$(CC) $(TOOLCHAIN_flags) -E -P -undef -x c $(MEMORIES) $(BOOT_DEFINES) $< -o $@

$(PROGRAMS): $(B)/%.elf: $(OBJ)/$(APP)/%.o $(PARTS) $(LIBRARY) $(RUNTIME) $(OBJ)/$(APP)/device.ld
	$(LINK)

# What a program of a user's own is linked with (APP=call), in a folder of its own: objects, the
# linker script, and how the compiler is called. Compilers without a C library have
# include/string.h, in the kit, and what is freestanding.
C_LIBRARY := $(if $(filter clang,$(CC)),,$(filter /%,$(shell $(CC) $(TOOLCHAIN_flags) -print-file-name=libc.a)))
KIT_FLAGS := $(TOOLCHAIN_flags) $(DEBUG) $(filter -mhwmult=%,$(FLAGS)) -ffunction-sections -fdata-sections \
	$(if $(C_LIBRARY),,-ffreestanding)
KIT_LIBRARIES := $(if $(filter clang,$(CC)),,$(if $(C_LIBRARY),-Wl$(comma)--start-group -lgcc -lm -lc -Wl$(comma)--end-group,-lgcc))

# The compiler's own runtime and C library are linked, as in a program of the user's: nothing that
# stands in their place here.
KIT_REPLACED := $(if $(filter clang,$(CC)),,%/multiply.S.o %/runtime.S.o) $(if $(C_LIBRARY),%/memory.c.o)

.PHONY: kit
kit: $(OBJ)/$(APP)/main.o $(filter-out $(KIT_REPLACED),$(RUNTIME)) $(OBJ)/$(APP)/device.ld
	rm -rf $(KIT) && mkdir -p $(KIT)
	$(foreach file,$(filter %.o,$^),cp $(file) $(KIT)/$(subst /,-,$(file:$(OBJ)/%=%)) &&) cp $(OBJ)/$(APP)/device.ld $(KIT)/
	$(if $(C_LIBRARY),,cp -r call/include $(KIT)/)
	@printf '%s\n' 'compiler $(CC)' 'flags $(KIT_FLAGS)' 'link $(TOOLCHAIN_flags)' 'libraries $(KIT_LIBRARIES)' >$(KIT)/kit
