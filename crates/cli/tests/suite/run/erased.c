/* Calls what is not there. */
int main(void)
{
    ((void (*)(void))0x3000)();
    return 0;
}
