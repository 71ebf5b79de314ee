/* A PKCS#11 module whose token fails or lies: hostile_token.rs.
 *
 * It passes calls on to SoftHSM2, and does otherwise as the environment says:
 *
 * WS_TOKEN_AT=N WS_TOKEN_RESULT=R   from the Nth call on all return R, a CK_RV
 * WS_TOKEN_LIE=NAME                 one of those in lie() and before()
 *
 * The functions' order in CK_FUNCTION_LIST and all numbers: OASIS PKCS #11 2.40. Every argument is
 * a pointer or a CK_ULONG, or is passed as one (CK_BBOOL), so that one type of function is enough
 * for all. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "/usr/lib/softhsm/libsofthsm2.so"
#define FUNCTIONS 68

enum { GET_SLOT_LIST = 4, GET_TOKEN_INFO = 6, GET_ATTRIBUTE_VALUE = 24, ENCRYPT = 30, DECRYPT = 34 };
enum { CKA_SENSITIVE = 0x103, CKA_EXTRACTABLE = 0x162, CKR_TOKEN_NOT_PRESENT = 0xe0, CKR_FUNCTION_FAILED = 6 };

typedef unsigned long word;
typedef word (*function)(word, word, word, word, word, word);
typedef struct {
    unsigned char version[2];
    function functions[FUNCTIONS];
} function_list;
typedef struct {
    word type;
    unsigned char *value;
    word len;
} attribute;

static const function_list *real;
static function_list here;
static word calls;
/* The first slot that a token is in. */
static word first_slot;

static int lies(const char *name)
{
    const char *lie = getenv("WS_TOKEN_LIE");

    return lie != 0 && strcmp(lie, name) == 0;
}

/* Changes what a call that went well has given. */
static void lie(int index, const word *argument)
{
    word *const len = (word *)argument[4];
    unsigned char *const out = (unsigned char *)argument[3];
    word i;

    switch (index) {
    case GET_SLOT_LIST:
        if (argument[1] != 0) {
            first_slot = *(word *)argument[1];
        }
        break;
    case GET_ATTRIBUTE_VALUE:
        for (i = 0; i < argument[3]; i++) {
            const attribute *const said = (attribute *)argument[2] + i;

            if (said->value == 0 || said->len == 0 || said->len == ~(word)0) {
                continue;
            }
            if (said->type == CKA_EXTRACTABLE && lies("extractable")) {
                said->value[0] = 1;
            }
            if (said->type == CKA_SENSITIVE && lies("not-sensitive")) {
                said->value[0] = 0;
            }
        }
        break;
    case ENCRYPT:
    case DECRYPT:
        if (out == 0) {
            *len = lies("absurd") ? ~(word)0 : lies("long") ? *len + 16 : *len;
        } else if (lies("short")) {
            *len /= 2;
        } else if (lies("long")) {
            memset(out + *len, 0x5a, 16);
            *len += 16;
        } else if (lies("changed") || (index == DECRYPT && lies("other-key"))) {
            out[3] ^= 1;
        } else if (index == ENCRYPT && lies("plain")) {
            memcpy(out, (const void *)argument[1], argument[2]);
        }
        break;
    default:
        break;
    }
}

static word forward(int index, const word *argument)
{
    const char *at = getenv("WS_TOKEN_AT");
    word result;

    calls++;
    if (at != 0 && calls >= strtoul(at, 0, 10)) {
        return strtoul(getenv("WS_TOKEN_RESULT"), 0, 0);
    }
    if (index == GET_TOKEN_INFO && lies("first-slot-empty") && argument[0] == first_slot) {
        return CKR_TOKEN_NOT_PRESENT;
    }
    result = real->functions[index](argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
    if (result == 0) {
        lie(index, argument);
    }
    return result;
}

#define FORWARD(index)                                                                                                                     \
    static word forward_##index(word a, word b, word c, word d, word e, word f)                                                            \
    {                                                                                                                                      \
        const word arguments[] = {a, b, c, d, e, f};                                                                                       \
                                                                                                                                           \
        return forward(index, arguments);                                                                                                  \
    }
#define EACH(DO)                                                                                                                           \
    DO(0)                                                                                                                                  \
    DO(1)                                                                                                                                  \
    DO(4)                                                                                                                                  \
    DO(6) DO(12) DO(13) DO(18) DO(24) DO(26) DO(27) DO(28) DO(29) DO(30) DO(33) DO(34) DO(58)
#define TAKE(index) here.functions[index] = forward_##index;

EACH(FORWARD)

word C_GetFunctionList(const function_list **list)
{
    void *const module = dlopen(MODULE, RTLD_NOW | RTLD_LOCAL);
    word (*get)(const function_list **);

    if (module == 0) {
        return CKR_FUNCTION_FAILED;
    }
    *(void **)&get = dlsym(module, "C_GetFunctionList");
    if (get == 0 || get(&real) != 0) {
        return CKR_FUNCTION_FAILED;
    }
    here = *real;
    EACH(TAKE)
    *list = &here;
    return 0;
}
