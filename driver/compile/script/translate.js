    answers: (text, settings) => ask({text: given("text", text)}, settings),
    translate: (text, settings) => ask({text: lineOf(given("text", text))}, settings)[0]?.text ?? "",
    nbest: (text, count, settings) =>
      ask({text: lineOf(given("text", text)), nbest: given("count", count)}, settings).map(({line, ...rest}) => rest),