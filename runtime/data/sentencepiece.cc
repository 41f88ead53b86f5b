// The C face of SentencePiece. No exception leaves this file.
#include "runtime/data/sentencepiece.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <unordered_map>

#include <sentencepiece_trainer.h>

namespace {

class LineIterator : public sentencepiece::SentenceIterator {
  public:
    LineIterator(const Line *lines, int64_t n) : lines_(lines), n_(n) { take(); }
    bool done() const override { return i_ >= n_; }
    void Next() override
    {
        i_++;
        take();
    }
    const std::string &value() const override { return value_; }
    sentencepiece::util::Status status() const override { return {}; }

  private:
    void take()
    {
        if (i_ < n_)
            value_.assign(lines_[i_].text, lines_[i_].length);
    }
    const Line *lines_;
    int64_t n_, i_ = 0;
    std::string value_;
};

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

std::unordered_map<std::string, std::string> training_settings(int pieces, bool exact)
{
    return {{"model_type", "unigram"},
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
}

} // namespace

extern "C" {

bool sp_train(const Line *lines, int64_t n, int pieces, bool exact, char **bytes, size_t *size,
              int *least, char **error)
{
    *least = 0;
    try {
        LineIterator iterator(lines, n);
        std::string trained;
        auto status = sentencepiece::SentencePieceTrainer::Train(training_settings(pieces, exact),
                                                                 &iterator, &trained);
        if (!status.ok()) {
            *least = required_pieces(status.message());
            report(error, without_place(status.message()));
            return false;
        }
        *size = trained.size();
        *bytes = static_cast<char *>(malloc(trained.size() + 1));
        if (!*bytes)
            abort();
        memcpy(*bytes, trained.data(), trained.size());
        return true;
    } catch (const std::exception &e) {
        report(error, e.what());
        return false;
    }
}
}
