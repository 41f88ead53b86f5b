# A compiled model's arrays through its module (folder of the module, name of it): what training
# and generating give agrees with what forward and loss give. numpy is there.
import importlib
import math
import sys

import numpy

sys.path.insert(0, sys.argv[1])
module = importlib.import_module(sys.argv[2])
sources, targets = [[4, 5, 6], [7]], [[2, 8], [2, 9, 10]]


def log_softmax(x):
    x = x - x.max(axis=-1, keepdims=True)
    return x - numpy.log(numpy.exp(x).sum(axis=-1, keepdims=True))


def fails(kind, words, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError("nothing was wrong with " + words)


with module.Model() as model:
    before = model.parameters()
    assert all(isinstance(p, numpy.ndarray) for p in before.values()) and before
    logits = model.forward(src=sources, tgt=targets)["logits"]
    assert [row.shape for row in logits] == [(2, module.VOCABULARY), (3, module.VOCABULARY)]
    alone = model.forward(src=[sources[1]], tgt=[numpy.array(targets[1])])["logits"]
    assert numpy.array_equal(alone[0], logits[1])
    follows = [[8, module.EOS], [9, 10, module.EOS]]
    told = model.loss(src=sources, tgt=targets, tgt_next=follows)["loss"]
    assert told == model.loss(src=sources, tgt=targets)["loss"] and math.isfinite(told)
    assert model.forward(src=[], tgt=[])["logits"] == []
    # The greedy answer is what forward finds most probable, token by token.
    [[(ids, log_p, score)]] = model.generate([sources[0] + [module.EOS]], beam=1, forbidden=[])
    rows = log_softmax(model.forward(src=[sources[0] + [module.EOS]],
                                     tgt=[[module.BOS] + ids])["logits"][0].astype("f8"))
    assert [int(i) for i in rows.argmax(axis=1)][:len(ids)] == ids, (ids, rows.argmax(axis=1))
    chosen = ids + [module.EOS]
    assert abs(sum(rows[i, chosen[i]] for i in range(len(chosen))) - log_p) < 1e-4
    assert [len(best) for best in model.generate(sources, beam=3, nbest=2)] == [2, 2]
    # Beginnings: the ids that are told, and scores as forward has them.
    begun = model.generate(sources, prefixes=[[8], []], beam=2)
    assert begun[0][0].ids[:1] == [8] and begun[1] == model.generate(sources, beam=2)[1]
    assert abs(sum(begun[0][0].each) - begun[0][0].log_probability) < 1e-9
    many = model.generate(sources, alternatives=3)
    assert len({tuple(one.ids[:1]) for one in many[0]}) == 3 and len(many[1]) == 3
    assert all(len(set(one.ids)) == len(one.ids) for one in model.generate(
        sources, no_repeat_ngram=1, beam=3, nbest=3)[0])
    assert model.generate([]) == []
    # Training changes the parameters; what is saved is what is opened.
    losses = [model.train_step(i, src=sources, tgt=targets, rate=0.01)["loss"] for i in range(20)]
    assert losses[-1] < losses[0]
    after = model.parameters()
    assert any(not numpy.array_equal(before[name], after[name]) for name in before)
    model.save("python.safetensors")
    with module.Model("python.safetensors") as saved:
        again = saved.parameters()
        assert all(numpy.array_equal(again[name], after[name]) for name in after)
    with module.Model(seed=3) as new:
        assert not numpy.array_equal(new.parameters()["embedding"], again["embedding"])
    # Mistakes.
    fails(TypeError, "no input srk", model.forward, srk=sources, tgt=targets, src=sources)
    fails(TypeError, "src is missing", model.forward, tgt=targets)
    fails(ValueError, "differ in the dimension B", model.forward, src=sources, tgt=targets[:1])
    fails(module.Error, "id 0 of 'src' is 99", model.forward, src=[[99]], tgt=[[2]])
    fails(module.Error, "beam is 0", model.generate, sources, beam=0)
    fails(ValueError, "prefixes: there are 1, not 2", model.generate, sources, prefixes=[[8]])
    fails(module.Error, "id 0 of 'tgt' is 99", model.generate, sources, prefixes=[[99], []])
    fails(TypeError, "no setting beams", model.generate, sources, beams=2)
    fails(module.Error, "absent", module.Model, "absent.safetensors")
fails(module.Error, "closed", model.parameters)
