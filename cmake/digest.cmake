# One SHA-256 over files, as a C file: cmake -DOUT=x.c -DNAME=symbol "-DFILES=a.c;b.c" -DBASE=FOLDER -DMORE=TEXT
# -P digest.cmake. Paths count relative to BASE, so that the same files elsewhere give the same.
set(all "${MORE}")
foreach(file IN LISTS FILES)
  file(SHA256 ${file} hash)
  file(RELATIVE_PATH path ${BASE} ${file})
  string(APPEND all "\n${path} ${hash}")
endforeach()
string(SHA256 digest "${all}")
file(WRITE ${OUT} "/* Made by cmake/digest.cmake. */\nextern const char ${NAME}[];\nconst char ${NAME}[] = \"${digest}\";\n")
