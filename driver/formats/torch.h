/* Checkpoints of PyTorch: a zip of a pickle and the bytes of its storages (torch.save since 1.6),
 * or pickles and storages one behind the other (before). Their pickles name tensors and containers
 * alone; everything else is refused by name, and nothing is called (pickle.h). Of a checkpoint that
 * is more than a state dict, such as one of a training, the tensors are those in its "state_dict",
 * "model_state_dict" or "model". "module." and "_orig_mod." before all names, which wrappers of
 * PyTorch put there, are left out. */
#ifndef DRIVER_FORMATS_TORCH_H
#define DRIVER_FORMATS_TORCH_H

#include "runtime/data/safetensors.h"

/* Whether a zip has the pickle of torch.save; whether it is a program of TorchScript. */
bool torch_is_zip(const unsigned char *bytes, uint64_t size);
bool torch_is_script(const unsigned char *bytes, uint64_t size);
/* FormatParse (formats.h) of both kinds. */
StFile *torch_parse_zip(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                        uint64_t size);
StFile *torch_parse_legacy(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                           uint64_t size);

#endif
