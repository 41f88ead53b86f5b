    answers: (text, settings = {}) => ask({...settings, text: String(text)}),
    translate: (text, settings = {}) => ask({...settings, text: lineOf(text)})[0]?.text ?? "",
    nbest: (text, count, settings = {}) =>
      ask({...settings, nbest: count, text: lineOf(text)}).map(({line, ...rest}) => rest),