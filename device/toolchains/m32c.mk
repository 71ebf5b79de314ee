# m32c-elf-as and m32c-elf-ld, for processors without a compiler: the port's own <app>.S stands for <app>/main.c, and
# kernels for crypto/. One section for each function and variable; the linker drops what is not used.

ifeq ($(wildcard $(PORT)/$(APP).S),)
$(error APP=$(APP) is not known for $(TARGET); there are: $(filter-out startup,$(patsubst $(PORT)/%.S,%,$(wildcard $(PORT)/*.S))))
endif

# The host's preprocessor, for #include and definitions; nothing of the host's is defined.
PREPROCESS := cc -E -undef -x assembler-with-cpp
LD := m32c-elf-ld
LINK_FLAGS := --gc-sections --fatal-warnings -T $(OBJ)/$(APP)/device.ld $(KEEP:%=-u %)

OBJECTS := $(KERNEL_NAMES:%=$(OBJ)/kernels/%.o) $(OBJ)/startup.o

PROGRAMS := $(WANTED:%=$(B)/%.elf)
SETTINGS := $(TOOLCHAIN_flags)
APP_SETTINGS := $(MEMORIES) | $(LINK_FLAGS) | $(OBJECTS)

# $(call ASSEMBLE,flags of the preprocessor)
define ASSEMBLE
@mkdir -p $(@D)
$(PREPROCESS) $1 -MMD -MP -MT $@ -MF $(@:.o=.d) $< -o $(@:.o=.s)
$(CC) $(TOOLCHAIN_flags) $(@:.o=.s) -o $@
endef

$(OBJ)/kernels/%.o: $(KERNELS)/%.S $(OBJ)/settings
	$(call ASSEMBLE)

$(OBJ)/startup.o: $(PORT)/startup.S $(OBJ)/settings $(OBJ)/clock
	$(call ASSEMBLE,$(CLOCK_FLAGS))

$(OBJ)/$(APP)/%.o: $(PORT)/$(APP).S $(OBJ)/settings $(OBJ)/$(APP)/settings $(B)/obj/ops.mk
	$(call ASSEMBLE,$(BENCH_FLAGS))

$(OBJ)/$(APP)/device.ld: $(PORT)/device.ld.in $(OBJ)/$(APP)/settings
	cc -E -P -undef -x c $(MEMORIES) $< -o $@

$(PROGRAMS): $(B)/%.elf: $(OBJ)/$(APP)/%.o $(OBJECTS) $(OBJ)/$(APP)/device.ld
	$(LD) $(LINK_FLAGS) -o $@ $(filter %.o,$^)
