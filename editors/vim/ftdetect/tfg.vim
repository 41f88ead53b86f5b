autocmd BufRead,BufNewFile *.tfg setfiletype tfg
