"""Files of weights of a published folder in the formats that PyTorch and NumPy write, without either:
faults_inputs.py PUBLISHED   makes torch/ and torch_legacy/ (pytorch_model.bin in a copy of the folder) and weights.npz"""
import collections
import os
import pickle
import shutil
import struct
import sys
import types
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from npz import npy, read_safetensors, write_npz  # noqa: E402


def rebuild(*arguments):
    raise NotImplementedError("only a name in a pickle")


class FloatStorage:
    """Only a name in a pickle."""


rebuild.__name__ = rebuild.__qualname__ = "_rebuild_tensor_v2"
rebuild.__module__, FloatStorage.__module__ = "torch._utils", "torch"
torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
torch.FloatStorage, utils._rebuild_tensor_v2 = FloatStorage, rebuild
sys.modules.update({"torch": torch, "torch._utils": utils})

Storage = collections.namedtuple("Storage", "key n")


class Tensor:
    def __init__(self, storage, shape):
        self.storage, self.shape = storage, tuple(shape)

    def __reduce__(self):
        strides, step = [], 1
        for size in reversed(self.shape):
            strides.insert(0, step)
            step *= size
        return rebuild, (self.storage, 0, self.shape, tuple(strides), False, collections.OrderedDict())


class Pickler(pickle.Pickler):
    behind = ()  # of a storage, what follows its size

    def persistent_id(self, value):
        return ("storage", FloatStorage, value.key, "cpu", value.n) + self.behind if isinstance(value, Storage) else None


class LegacyPickler(Pickler):
    behind = (None,)  # it is no view of another


def contents(tensors):
    """A dict of tensors, and the bytes of each storage by its key."""
    state, storages = collections.OrderedDict(), {}
    for number, (name, (shape, values)) in enumerate(tensors.items()):
        state[name] = Tensor(Storage(str(number), len(values)), shape)
        storages[str(number)] = struct.pack("<%df" % len(values), *values)
    return state, storages


def write_zip(path, tensors):
    state, storages = contents(tensors)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        with file.open("archive/data.pkl", "w") as data:
            Pickler(data, 2).dump(state)
        for key, data in storages.items():
            file.writestr("archive/data/" + key, data)
        file.writestr("archive/version", "3\n")


def write_legacy(path, tensors):
    state, storages = contents(tensors)
    with open(path, "wb") as file:
        for value in (0x1950a86a20f9469cfc6c, 1001,
                      {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}):
            pickle.dump(value, file, 2)
        LegacyPickler(file, 2).dump(state)
        pickle.dump(sorted(storages), file, 2)
        for key in sorted(storages):
            file.write(struct.pack("<q", len(storages[key]) // 4) + storages[key])


published = sys.argv[1]
weights = read_safetensors(os.path.join(published, "model.safetensors"))
for folder, write in ("torch", write_zip), ("torch_legacy", write_legacy):
    shutil.copytree(published, folder, ignore=shutil.ignore_patterns("model.safetensors"))
    write(os.path.join(folder, "pytorch_model.bin"), weights)
write_npz("weights.npz", [(name, npy(shape, struct.pack("<%df" % len(values), *values))) for name, (shape, values) in weights.items()])
