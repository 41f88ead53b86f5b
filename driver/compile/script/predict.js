    predict: (text, settings = {}) => ask({...settings, text: String(text)})[0].predictions,
    tokens: text => ask({top: 1, text: String(text)})[0].tokens ?? [],