" For test_editors: the syntax groups of words in the file that is open. `expected`
" beside it names a column and a word for each line; `said` gets the groups found.
" The colours have to come by the file's name alone, as they do for a user.
set runtimepath^=editors/vim
filetype on
syntax on
edit
let s:folder = expand('%:p:h')
let s:said = []
let s:line = 0
for s:expected in readfile(s:folder .. '/expected')
  let s:line += 1
  let s:column = matchstr(s:expected, '^\d\+')
  let s:word = matchstr(s:expected, '^\d\+ \zs.*\ze \S\+$')
  let s:groups = {}
  for s:at in range(s:column, s:column + len(s:word) - 1)
    let s:groups[synIDattr(synID(s:line, s:at, 1), 'name')] = 1
  endfor
  let s:name = join(sort(keys(s:groups)), '+')
  call add(s:said, s:column .. ' ' .. s:word .. ' ' .. (s:name == '' ? 'none' : s:name))
endfor
call writefile(s:said, s:folder .. '/said')
quit!
