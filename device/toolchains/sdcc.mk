# sdcc, for processors that no gcc or clang knows. Its linker takes whole files or leaves them; the library that it
# picks them from is made of all that is in crypto/. What it makes is Intel hex with the linker's map beside it.

ifneq ($(APP),bench)
$(error APP=$(APP) is for gcc and clang alone; for $(TARGET) there is: bench)
endif

# What differs by port: ASSEMBLER; LINK_FLAGS, where its memories begin and end; CODE_MEMORIES, those of the target that
# code may lie in, and AREA_ENDS, which the linker does not look at (sdld-check.awk); and OPTIMISE_<variant>, and
# OPTIMISE_<file> beside it: sdcc has no levels of optimisation but switches, and optimises unless told not to.
AREA_ENDS :=
include $(PORT)/sdcc.mk
OPTIMISE_O0 := --nogcse --nolabelopt --noinvariant --noinduction --noloopreverse --nolospre --no-peep

CFLAGS := $(TOOLCHAIN_flags) --std-c99 --Werror -Icrypto

OBJECTS := $(C_FILES:%=$(B)/obj/crypto/%.rel) $(KERNEL_NAMES:%=$(B)/obj/kernels/%.rel)
LIBRARY := $(B)/obj/crypto.lib
RUNTIME := $(patsubst ports/%.asm,$(B)/obj/ports/%.rel,$(wildcard $(PORT)/*.asm))

PROGRAMS := $(WANTED:%=$(B)/%.ihx)
SETTINGS := $(CFLAGS) | $(OPTIMISE_$(VARIANT)) $(foreach file,$(C_FILES),$(OPTIMISE_$(file))) | $(LINK_FLAGS) | \
	$(AREA_ENDS) | $(OBJECTS) $(RUNTIME)

$(B)/obj/crypto/%.rel: crypto/%.c $(wildcard crypto/*.h crypto/*.inc) $(B)/obj/settings
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(OPTIMISE_$(VARIANT)) $(OPTIMISE_$*) -c $< -o $@

# As sdcc itself calls its assembler: a listing, symbols, undefined names taken for global.
$(B)/obj/kernels/%.rel: $(KERNELS)/%.asm $(wildcard $(KERNELS)/*.inc) $(B)/obj/settings
	@mkdir -p $(@D)
	$(ASSEMBLER) -plosgff $@ $<

$(B)/obj/ports/%.rel: ports/%.asm $(B)/obj/settings
	@mkdir -p $(@D)
	$(ASSEMBLER) -plosgff $@ $<

# The app's frame around the operation is the same in every variant. sdcc writes start-up into the file that has main, and
# there it uses what LINK_FLAGS say of the memories.
$(B)/obj/$(APP)/%.rel: $(APP)/main.c $(wildcard crypto/*.h crypto/*.inc) $(B)/obj/settings $(B)/obj/ops.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LINK_FLAGS) $(BENCH_FLAGS) -c $< -o $@

$(LIBRARY): $(OBJECTS)
	rm -f $@
	sdar rcs $@ $^

# Linked beside the objects and then moved, because sdcc leaves files of its own beside what it links. Whatever the
# linker says is an error: of areas that overlap, as those with .org may, it speaks, but exits with 0.
LINKED = $(B)/obj/$(APP)/$*
$(PROGRAMS): $(B)/%.ihx: $(B)/obj/$(APP)/%.rel $(RUNTIME) $(LIBRARY) toolchains/sdld-check.awk
	$(CC) $(TOOLCHAIN_flags) $(LINK_FLAGS) --out-fmt-ihx $(filter-out %.awk,$^) -o $(LINKED).ihx 2>$(LINKED).err || \
		{ cat $(LINKED).err >&2; false; }
	@[ ! -s $(LINKED).err ] || { cat $(LINKED).err >&2; echo '$*: what the linker says above is an error here' >&2; false; }
	@awk -f toolchains/sdld-check.awk -v name=$* -v ends='$(AREA_ENDS)' \
		-v code='$(foreach name,$(CODE_MEMORIES),$(call memory,$(name)_START) $(call memory,$(name)_SIZE))' \
		$(LINKED).map $(LINKED).ihx
	mv $(LINKED).map $(B)/
	mv $(LINKED).ihx $@
