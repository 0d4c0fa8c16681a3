/* SPDX-License-Identifier: MIT */
/* words.c - what the guest's clang compiles: enough for most of the optimizer to run */

typedef __SIZE_TYPE__ bytes_t;

struct word {
	const char *text;
	bytes_t bytes;
	unsigned int count;
};

static unsigned int hash(const char *text, bytes_t bytes)
{
	unsigned int value = 2166136261u;

	for (bytes_t i = 0; i < bytes; i++)
		value = (value ^ (unsigned char)text[i]) * 16777619u;
	return value;
}

static int same(const struct word *word, const char *text, bytes_t bytes)
{
	if (word->bytes != bytes)
		return 0;
	for (bytes_t i = 0; i < bytes; i++)
		if (word->text[i] != text[i])
			return 0;
	return 1;
}

unsigned int count_words(const char *text, struct word *table, unsigned int slots)
{
	unsigned int words = 0;

	while (*text) {
		const char *start = text;
		unsigned int slot;

		while (*text && *text != ' ')
			text++;
		slot = hash(start, (bytes_t)(text - start)) % slots;
		while (table[slot].text && !same(&table[slot], start, (bytes_t)(text - start)))
			slot = (slot + 1) % slots;
		table[slot].text = start;
		table[slot].bytes = (bytes_t)(text - start);
		table[slot].count++;
		words++;
		while (*text == ' ')
			text++;
	}
	return words;
}
