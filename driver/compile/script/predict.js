    predict(text, settings = {}) {
      const {predictions, note} = ask({...settings, text: String(text)})[0];
      if (note)
        console.warn(note);
      return predictions;
    },
    tokens: text => ask({top: 1, text: String(text)})[0].tokens ?? [],