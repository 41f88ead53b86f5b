# Files as C arrays: cmake -DOUT=x.c -DPREFIX=page "-DFILES=page.html;page.css;a.js;b.js"
# -P embed.cmake gives page_html, page_css and page_js (the scripts in their order as one),
# each ended by a NUL.
foreach(file ${FILES})
  get_filename_component(type ${file} EXT)
  string(SUBSTRING ${type} 1 -1 type)
  file(READ ${file} hex HEX)
  string(APPEND hex_${type} "${hex}")
  list(APPEND types ${type})
endforeach()
list(REMOVE_DUPLICATES types)
set(text "/* Made by cmake/embed.cmake. */\n")
foreach(type ${types})
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex_${type}}")
  string(APPEND text "extern const char ${PREFIX}_${type}[];\nconst char ${PREFIX}_${type}[] = {${bytes}0};\n")
endforeach()
file(WRITE ${OUT} "${text}")
