" The .tfg language of tfc: models of Transformers.
if exists("b:current_syntax")
  finish
endif

" Reserved everywhere.
syntax keyword tfgReserved and or not as if else repeat return
syntax keyword tfgBoolean true false
" Names like any other but at the beginning of a statement.
syntax match tfgDeclaration /\%(^\|[;{]\)\s*\zs\%(model\|use\|const\|dim\|input\|vocab\|param\|frozen\|state\|block\|output\|predict\|update\|merge\|train\|weights\)\>\ze\s*[A-Za-z_"{*]/
syntax match tfgDeclaration /\%(\<frozen\s\+\)\@<=param\>/
" Functions, where they are called.
syntax match tfgFunction /\<\%(exp\|log\|expm1\|log1p\|sqrt\|rsqrt\|tanh\|erf\|sigmoid\|sin\|cos\|floor\|abs\|relu\|maximum\|minimum\|float\|int\|stop_gradient\|stop\|select\|mask\|dropout\|random\|sum\|mean\|max\|min\|softmax\|logsumexp\|reshape\|permute\|transpose\|broadcast\|slice\|pad\|concat\|split\|flip\|lookup\|scatter\|pick\|top_k\|argmax\|full\|position\|size\|lengths\|shape\|rank\|ragged\|is_float\|next\|hidden\|ctc\|add_loss\|one_of\|require\)\>\ze\s*(/
syntax match tfgNumber /\<\d\+\%(\.\d\+\)\?\%([eE][-+]\?\d\+\)\?\>/
syntax match tfgRagged /\~/
syntax region tfgString start=/"/ skip=/\\./ end=/"/ oneline
syntax match tfgComment /#.*/ contains=tfgTodo
syntax keyword tfgTodo TODO FIXME contained

highlight default link tfgReserved Statement
highlight default link tfgBoolean Boolean
highlight default link tfgDeclaration Keyword
highlight default link tfgFunction Function
highlight default link tfgNumber Number
highlight default link tfgRagged Special
highlight default link tfgString String
highlight default link tfgComment Comment
highlight default link tfgTodo Todo
setlocal commentstring=#\ %s

let b:current_syntax = "tfg"
