# The host itself: the meter as a process, its drivers in ports/posix (TARGET=posix). Nothing of it is measured.

ifneq ($(APP) $(VARIANT),meter portable)
$(error TARGET=posix has APP=meter VARIANT=portable alone)
endif
ifneq ($(BOARD),)
$(error BOARD=$(BOARD) is not for TARGET=posix, which has no boards)
endif

B := $(OUT)/posix$(SUITES_FOLDER)/$(VARIANT)
POSIX_CC := cc
# The interfaces of POSIX.1-2008 with its XSI part, which has the timer.
POSIX_FLAGS := -std=c99 -D_XOPEN_SOURCE=700 -O2 -g $(WARNINGS) $(SUITES_FLAGS)
POSIX_OBJECTS := $(patsubst %.c,$(B)/obj/%.o,$(wildcard ports/posix/*.c meter/*.c))
# The linker takes what the meter needs: other files want functions of the bench's, or of other applications.
POSIX_CRYPTO := $(patsubst %.c,$(B)/obj/%.o,$(wildcard crypto/*.c))

all: $(B)/meter

$(B)/meter: $(POSIX_OBJECTS) $(B)/crypto.a
	$(POSIX_CC) -o $@ $^ -lm

$(B)/crypto.a: $(POSIX_CRYPTO)
	rm -f $@
	ar rcs $@ $^

# ports/posix/main.c has the process's.
$(B)/obj/meter/main.o: POSIX_FLAGS += -Dmain=ws_main

$(B)/obj/%.o: %.c Makefile toolchains/posix.mk
	@mkdir -p $(@D)
	$(POSIX_CC) $(POSIX_FLAGS) -MMD -MP -c $< -o $@

-include $(POSIX_OBJECTS:.o=.d) $(POSIX_CRYPTO:.o=.d)
