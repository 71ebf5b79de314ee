# m32c-elf-as and m32c-elf-ld, for processors without a compiler: the port's own <app>.S stands for <app>/main.c, and
# kernels for crypto/. One section for each function and variable; the linker drops what is not used.

ifeq ($(wildcard $(PORT)/$(APP).S),)
$(error APP=$(APP) is not known for $(TARGET); there are: $(filter-out startup,$(patsubst $(PORT)/%.S,%,$(wildcard $(PORT)/*.S))))
endif

# The host's preprocessor, for #include and definitions; nothing of the host's is defined.
PREPROCESS := cc -E -undef -x assembler-with-cpp
LD := m32c-elf-ld
LINK_FLAGS := --gc-sections --fatal-warnings -T $(B)/obj/device.ld $(KEEP:%=-u %)

OBJECTS := $(KERNEL_NAMES:%=$(B)/obj/kernels/%.o) $(B)/obj/startup.o

PROGRAMS := $(WANTED:%=$(B)/%.elf)
SETTINGS := $(TOOLCHAIN_flags) | $(MEMORIES) | $(LINK_FLAGS) | $(OBJECTS)

# $(call ASSEMBLE,flags of the preprocessor)
define ASSEMBLE
@mkdir -p $(@D)
$(PREPROCESS) $1 -MMD -MP -MT $@ -MF $(@:.o=.d) $< -o $(@:.o=.s)
$(CC) $(TOOLCHAIN_flags) $(@:.o=.s) -o $@
endef

$(B)/obj/kernels/%.o: $(KERNELS)/%.S $(B)/obj/settings
	$(call ASSEMBLE)

$(B)/obj/startup.o: $(PORT)/startup.S $(B)/obj/settings $(B)/obj/clock
	$(call ASSEMBLE,$(CLOCK_FLAGS))

$(B)/obj/$(APP)/%.o: $(PORT)/$(APP).S $(B)/obj/settings $(B)/obj/ops.mk
	$(call ASSEMBLE,$(BENCH_FLAGS))

$(B)/obj/device.ld: $(PORT)/device.ld.in $(B)/obj/settings
	cc -E -P -undef -x c $(MEMORIES) $< -o $@

$(PROGRAMS): $(B)/%.elf: $(B)/obj/$(APP)/%.o $(OBJECTS) $(B)/obj/device.ld
	$(LD) $(LINK_FLAGS) -o $@ $(filter %.o,$^)
