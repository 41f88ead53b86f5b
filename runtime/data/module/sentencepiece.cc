// The C face of SentencePiece. No exception leaves this file.
extern "C" {
#include "base/arena.h"
}
#include "runtime/data/sentencepiece.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <unordered_map>

#include <sentencepiece_trainer.h>

namespace
{

// The trainer leaves out lines of more bytes, and those with the character that it puts in the
// place of unknown ones.
constexpr size_t longest_line = 4192;
constexpr char reserved[] = "\u2585";

// Bytes of the next piece of a line that the trainer takes: to the last blank, where there is one,
// else to the end of a character.
size_t piece_length(const char *text, size_t length)
{
    if (length <= longest_line)
        return length;
    for (size_t n = longest_line; n > 0; n--)
        if (text[n] == ' ')
            return n;
    size_t n = longest_line;
    while (n > 1 && (static_cast<unsigned char>(text[n]) & 0xC0) == 0x80)
        n--;
    return n;
}

class LineIterator : public sentencepiece::SentenceIterator
{
  public:
    LineIterator(const Line *lines, int64_t n) : lines_(lines), n_(n) { take(); }
    bool done() const override { return i_ >= n_; }
    void Next() override
    {
        if (at_ >= lines_[i_].length) {
            i_++;
            at_ = 0;
        }
        take();
    }
    const std::string &value() const override { return value_; }
    sentencepiece::util::Status status() const override { return {}; }

  private:
    // A piece begins as a line does: behind a blank, which is not part of it.
    void take()
    {
        if (i_ >= n_)
            return;
        const Line &line = lines_[i_];
        size_t n = piece_length(line.text + at_, line.length - at_);
        value_.assign(line.text + at_, n);
        at_ += n;
        at_ += at_ < line.length && line.text[at_] == ' ';
        for (size_t found = 0; (found = value_.find(reserved, found)) != std::string::npos;)
            value_.replace(found, sizeof reserved - 1, " ");
    }
    const Line *lines_;
    int64_t n_, i_ = 0;
    size_t at_ = 0; // bytes of line i_ that were given
    std::string value_;
};

bool has_text(const Line *lines, int64_t n, const char *text)
{
    for (int64_t i = 0; i < n; i++)
        if (memmem(lines[i].text, lines[i].length, text, strlen(text)))
            return true;
    return false;
}

// What the trainer makes no pieces of by itself, with commas between: of the text its own sign and,
// where texts stay as they are, the tab, by which it parts words; and the symbol.
std::string own_pieces(const Line *lines, int64_t n, const SpTexts &texts)
{
    std::string pieces = has_text(lines, n, reserved) ? reserved : "";
    if (texts.as_is && has_text(lines, n, "\t"))
        pieces += pieces.empty() ? "\t" : ",\t";
    if (texts.symbol)
        pieces += (pieces.empty() ? "" : ",") + std::string(texts.symbol);
    return pieces;
}

void report(char **error, const char *message) { *error = strdup(message); }

// The library's messages begin with a place in its source: "./src/file.cc(580) [condition] …"
const char *without_place(const char *message)
{
    const char *bracket = strstr(message, ".cc(") ? strstr(message, "] ") : nullptr;
    return bracket ? bracket + 2 : message;
}

// The library tells the number of required pieces by its message alone.
int required_pieces(const char *message)
{
    const char *text = strstr(message, "smaller than required_chars. ");
    const char *number = text ? strstr(text, " vs ") : nullptr;
    return number ? atoi(number + 4) : 0;
}

std::unordered_map<std::string, std::string> training_settings(int pieces, bool as_is, bool exact,
                                                               const std::string &own)
{
    std::unordered_map<std::string, std::string> settings = {
        {"model_type", "unigram"},
        {"vocab_size", std::to_string(pieces)},
        {"hard_vocab_limit", exact ? "true" : "false"},
        {"character_coverage", "1.0"},
        {"pad_id", "0"},
        {"unk_id", "1"},
        {"bos_id", "2"},
        {"eos_id", "3"},
        // Partial sums are kept by thread number, so this constant is part of the result.
        {"num_threads", "2"},
        {"minloglevel", "3"}};
    if (!own.empty())
        settings["user_defined_symbols"] = own;
    if (as_is) {
        settings["normalization_rule_name"] = "identity";
        settings["remove_extra_whitespaces"] = "false";
        settings["allow_whitespace_only_pieces"] = "true";
    }
    return settings;
}

} // namespace

extern "C" {

const char *sp_version(void) { return SENTENCEPIECE_VERSION; }

bool sp_train(const Line *lines, int64_t n, int pieces, const SpTexts *texts, bool exact,
              char **bytes, size_t *size, int *least, char **error)
{
    *least = 0;
    try {
        LineIterator iterator(lines, n);
        std::string trained;
        auto status = sentencepiece::SentencePieceTrainer::Train(
            training_settings(pieces, texts->as_is, exact, own_pieces(lines, n, *texts)), &iterator,
            &trained);
        if (!status.ok()) {
            *least = required_pieces(status.message());
            report(error, without_place(status.message()));
            return false;
        }
        *size = trained.size();
        *bytes = static_cast<char *>(malloc(trained.size() + 1));
        if (!*bytes)
            memory_end(trained.size() + 1);
        memcpy(*bytes, trained.data(), trained.size());
        return true;
    } catch (const std::exception &e) {
        report(error, e.what());
        return false;
    }
}
}
