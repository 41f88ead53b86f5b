// libsentencepiece behind functions of C.
extern "C" {
#include "tests/text/library.h"
}

#include <cstdio>
#include <string>
#include <vector>

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

struct Library {
    sentencepiece::SentencePieceProcessor processor;
};

namespace
{

class Lines : public sentencepiece::SentenceIterator
{
  public:
    Lines(const char *const *lines, const size_t *lengths, size_t n)
        : lines_(lines), lengths_(lengths), n_(n)
    {
        take();
    }
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
            value_.assign(lines_[i_], lengths_[i_]);
    }
    const char *const *lines_;
    const size_t *lengths_;
    size_t n_, i_ = 0;
    std::string value_;
};

} // namespace

extern "C" {

Library *library_load(const void *bytes, size_t size)
{
    auto *library = new Library;
    if (library->processor.LoadFromSerializedProto({static_cast<const char *>(bytes), size}).ok())
        return library;
    delete library;
    return nullptr;
}

void library_free(Library *library) { delete library; }

void library_encode(const Library *library, const char *text, size_t length, TokenIds *ids)
{
    std::vector<int> out;
    if (library->processor.Encode({text, length}, &out).ok())
        for (int id : out)
            token_ids_push(ids, id);
}

void library_decode(const Library *library, const int32_t *ids, size_t n, TokenText *text)
{
    std::string out;
    if (library->processor.Decode(std::vector<int>(ids, ids + n), &out).ok())
        token_text_put(text, out.data(), out.size());
}

int library_size(const Library *library) { return library->processor.GetPieceSize(); }

int library_find(const Library *library, const char *piece)
{
    return library->processor.PieceToId(piece);
}

void library_special(const Library *library, int32_t ids[4])
{
    ids[0] = library->processor.pad_id();
    ids[1] = library->processor.unk_id();
    ids[2] = library->processor.bos_id();
    ids[3] = library->processor.eos_id();
}

bool library_train(const char *settings, const char *const *lines, const size_t *lengths, size_t n,
                   TokenText *model)
{
    Lines iterator(lines, lengths, n);
    std::string bytes;
    auto status = sentencepiece::SentencePieceTrainer::Train(
        std::string(settings) + " --hard_vocab_limit=false --minloglevel=3", &iterator, &bytes);
    if (!status.ok()) {
        fprintf(stderr, "%s: %s\n", settings, status.message());
        return false;
    }
    return token_text_put(model, bytes.data(), bytes.size());
}
}
