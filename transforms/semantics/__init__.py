"""What ops mean: each is a function from an index of its result to the element there.

`meaning_of("aten.permute.default")` gives a function over a `World` and the op's arguments in
schema order, with tensors as `TensorValue`s. It includes the op's own shape rule: it states what
the op requires of its arguments with `world.require`; sizes of the result are terms over theirs.

To add the meaning of an op, write a function in the module of its family and register it:

    @meaning("aten.flip.default")
    def flip(world: World, x: TensorValue, dims: Any) -> TensorValue:
        turned = {world.dim(dim, x.rank) for dim in dims}

        def element(index: Index) -> Term:
            return x.element([
                x.shape[k] - 1 - i if k in turned else i for k, i in enumerate(index)
            ])

        return TensorValue(x.shape, x.dtype, element)

and add a case with generated inputs to `tests/transforms/semantics`, which runs the op and its
meaning.
"""

from xductor.transforms.semantics.registry import meaning, meaning_of, meanings
from xductor.transforms.semantics.values import Illegal, Index, NoMeaning, TensorValue, World

__all__ = [
    "Illegal",
    "Index",
    "NoMeaning",
    "TensorValue",
    "World",
    "meaning",
    "meaning_of",
    "meanings",
]
