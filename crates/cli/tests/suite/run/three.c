/* Fails, with the exit code 3. */
int main(void)
{
    return 3;
}
