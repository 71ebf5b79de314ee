# sdcc, for processors that no gcc or clang knows. Its linker takes whole files or leaves them; the library that it
# picks them from is made of all that is in crypto/. What it makes is Intel hex with the linker's map beside it.

ifeq ($(filter bench call,$(APP)),)
$(error APP=$(APP) is for gcc and clang alone; for $(TARGET) there are: bench call)
endif

# What differs by port: ASSEMBLER; LINK_FLAGS, where its memories begin and end; CODE_MEMORIES, those of the target that
# code may lie in, and AREA_ENDS, which the linker does not look at (sdld-check.awk); and OPTIMISE_<variant>, and
# OPTIMISE_<file> beside it: sdcc has no levels of optimisation but switches, and optimises unless told not to.
AREA_ENDS :=
include $(PORT)/sdcc.mk
OPTIMISE_O0 := --nogcse --nolabelopt --noinvariant --noinduction --noloopreverse --nolospre --no-peep

CFLAGS := $(TOOLCHAIN_flags) --std-c99 --Werror -Icrypto
# Without optimisation variables share no places, so that nothing overwrites what a secret passed through: crypto/compiler.h.
ifeq ($(VARIANT),O0)
CFLAGS += -DWS_SPILLS=1
endif

C_FILES := $(call c_files,$(APP)/main.c)
OBJECTS := $(C_FILES:%=$(OBJ)/crypto/%.rel) $(KERNEL_NAMES:%=$(OBJ)/kernels/%.rel)
LIBRARY := $(OBJ)/crypto.lib
RUNTIME := $(patsubst ports/%.asm,$(OBJ)/ports/%.rel,$(wildcard $(PORT)/*.asm))

PROGRAMS := $(WANTED:%=$(B)/%.ihx)
SETTINGS := $(CFLAGS) | $(OPTIMISE_$(VARIANT)) $(foreach file,$(C_FILES),$(OPTIMISE_$(file)))
APP_SETTINGS := $(LINK_FLAGS) $(foreach op,$(WANTED),$(STACK_$(op))) | $(AREA_ENDS) | $(OBJECTS) $(RUNTIME)

$(OBJ)/crypto/%.rel: crypto/%.c $(wildcard crypto/*.h crypto/*.inc) $(OBJ)/settings
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(OPTIMISE_$(VARIANT)) $(OPTIMISE_$*) -c $< -o $@

# As sdcc itself calls its assembler: a listing, symbols, undefined names taken for global.
$(OBJ)/kernels/%.rel: $(KERNELS)/%.asm $(wildcard $(KERNELS)/*.inc) $(OBJ)/settings
	@mkdir -p $(@D)
	$(ASSEMBLER) -plosgff $@ $<

$(OBJ)/ports/%.rel: ports/%.asm $(OBJ)/settings
	@mkdir -p $(@D)
	$(ASSEMBLER) -plosgff $@ $<

# The app's frame around the operation is the same in every variant. sdcc writes start-up into the file that has main, and
# there it uses what LINK_FLAGS say of the memories.
$(OBJ)/$(APP)/%.rel: $(APP)/main.c $(wildcard crypto/*.h crypto/*.inc) $(OBJ)/settings $(OBJ)/$(APP)/settings $(B)/obj/ops.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LINK_FLAGS) $(BENCH_FLAGS) -c $< -o $@

$(LIBRARY): $(OBJECTS) $(OBJ)/$(APP)/settings
	rm -f $@
	sdar rcs $@ $(OBJECTS)

# Linked beside the objects and then moved, because sdcc leaves files of its own beside what it links. Whatever the
# linker says is an error: of areas that overlap, as those with .org may, it speaks, but exits with 0.
LINKED = $(OBJ)/$(APP)/$*
$(PROGRAMS): $(B)/%.ihx: $(OBJ)/$(APP)/%.rel $(RUNTIME) $(LIBRARY) toolchains/sdld-check.awk
	$(CC) $(TOOLCHAIN_flags) $(LINK_FLAGS) --out-fmt-ihx $(filter-out %.awk,$^) -o $(LINKED).ihx 2>$(LINKED).err || \
		{ cat $(LINKED).err >&2; false; }
	@[ ! -s $(LINKED).err ] || { cat $(LINKED).err >&2; echo '$*: what the linker says above is an error here' >&2; false; }
	@awk -f toolchains/sdld-check.awk -v name=$* -v ends='$(AREA_ENDS)' \
		-v code='$(foreach name,$(CODE_MEMORIES),$(call memory,$(name)_START) $(call memory,$(name)_SIZE))' \
		$(LINKED).map $(LINKED).ihx
	mv $(LINKED).map $(B)/
	mv $(LINKED).ihx $@

# What a program of a user's own is linked with (APP=call), in a folder of its own, and how the
# compiler is called. The linker wants the listings beside the objects.
.PHONY: kit
kit: $(OBJ)/$(APP)/main.rel $(RUNTIME)
	rm -rf $(KIT) && mkdir -p $(KIT)
	$(foreach file,$(foreach object,$^,$(object) $(object:.rel=.lst)),cp $(file) $(KIT)/$(subst /,-,$(file:$(OBJ)/%=%)) &&) cp toolchains/sdld-check.awk $(KIT)/
	@printf '%s\n' 'compiler $(CC)' 'flags $(TOOLCHAIN_flags)' 'link $(LINK_FLAGS)' 'ends $(AREA_ENDS)' \
		'code $(foreach name,$(CODE_MEMORIES),$(call memory,$(name)_START) $(call memory,$(name)_SIZE))' >$(KIT)/kit
