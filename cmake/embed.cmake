# Files as C arrays: cmake -DOUT=x.c "-DFILES=a.html;b.css" -P embed.cmake gives
# `const char page_html[]` for page.html, each ended by a NUL.
set(text "/* Made by cmake/embed.cmake. */\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  string(REPLACE "." "_" name ${name})
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND text "extern const char ${name}[];\nconst char ${name}[] = {${bytes}0};\n")
endforeach()
file(WRITE ${OUT} "${text}")
