// SPDX-License-Identifier: MIT
// words - count the words of the standard input; small to read, and enough work for a compiler
#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

int main()
{
	const std::regex word("[A-Za-z]+");
	std::map<std::string, unsigned> count;
	std::string line;

	while (std::getline(std::cin, line))
		for (std::sregex_iterator it(line.begin(), line.end(), word), end; it != end; ++it)
			++count[it->str()];

	std::vector<std::pair<std::string, unsigned>> words(count.begin(), count.end());
	std::sort(words.begin(), words.end(),
		[](const auto &a, const auto &b) { return a.second > b.second; });
	for (const auto &[text, times] : words)
		std::cout << times << '\t' << text << '\n';
}
