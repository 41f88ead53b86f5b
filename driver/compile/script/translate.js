    answers: (text, settings) => ask({text: given("text", text)}, settings),
    translate: (text, settings) => ask({text: lineOf(given("text", text))}, settings)[0]?.text ?? "",
    translate_text(text, settings) {
      const isList = Array.isArray(given("texts", text, "text")), best = [];
      if (isList && text.some(line => line.includes("\n")))
        throw new TypeError("text: a line has a newline in it");
      for (const {line, text: answer} of ask({text: isList ? text.map(line => line + "\n").join("") : text}, settings))
        best[line] ??= answer;
      const oneLine = answer => answer.replaceAll("\n", "\\n").replaceAll("\r", "\\r");
      return isList ? best : best.map(oneLine).join("\n") + (text.endsWith("\n") ? "\n" : "");
    },
    nbest: (text, count, settings) =>
      ask({text: lineOf(given("text", text)), nbest: given("count", count)}, settings).map(({line, ...rest}) => rest),