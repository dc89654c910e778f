// A program that does nothing: what any process costs.
int main() {}
