ASSEMBLER := sdas8051

# What variables in internal RAM must leave to the stack, of the operation named or of any: AES-GCM takes 23 bytes from main on, LMS's
# verification at most 21, SLH-DSA's and HSS's 26 with SHA-256 in C and up to 25 with a kernel.
STACK := 24
STACK_slh-dsa-sha2-128s-verify := 26
STACK_hss-sha256-m32-h5-h5-verify := 26

# sdcc's own start-up does what is needed: it sets the stack behind the variables in internal RAM, clears internal and
# external RAM, and fills what has initial values. Target files count external data from 0x10000 up. External RAM begins with what is
# paged, which must begin with a page.
LINK_FLAGS = --code-loc $(call memory,CODE_START) --code-size $(call memory,CODE_SIZE) \
              --xram-loc 0 --xram-size $(call memory,XDATA_SIZE) --iram-size $(call memory,IDATA_SIZE) \
              --stack-size $(or $(STACK_$*),$(STACK))
CODE_MEMORIES := CODE

# sdcc 4.2 makes the same code with --opt-code-size and --opt-code-speed for this processor.
OPTIMISE_portable :=
OPTIMISE_small := $(OPTIMISE_portable)
OPTIMISE_fast := $(OPTIMISE_portable)

# Without the two optimisations of loops the temporaries of gcm.c and ascon_hash.c fit into internal RAM beside those of the AES kernels
# and of ascon_permutation.c.
OPTIMISE_gcm := --noinvariant --noinduction
OPTIMISE_ascon_hash := $(OPTIMISE_gcm)
# So do those of hash-based signatures' verification beside those of SHA-256, in most files without common subexpressions either.
OPTIMISE_slh_dsa_steps := $(OPTIMISE_gcm) --nogcse
OPTIMISE_slh_dsa_verify := $(OPTIMISE_slh_dsa_steps)
OPTIMISE_slh_dsa_bench := $(OPTIMISE_slh_dsa_steps)
OPTIMISE_one_time := $(OPTIMISE_slh_dsa_steps)
OPTIMISE_lms := $(OPTIMISE_slh_dsa_steps)
OPTIMISE_hss := $(OPTIMISE_slh_dsa_steps)
OPTIMISE_sha256 := $(OPTIMISE_slh_dsa_steps)
OPTIMISE_sha256_blocks := $(OPTIMISE_gcm)
