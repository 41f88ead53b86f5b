    predict(text, settings) {
      const {predictions, note} = ask({text: given("text", text)}, settings)[0];
      if (note)
        console.warn(note);
      return predictions;
    },
    tokens: text => ask({text: given("text", text), top: 1})[0].tokens ?? [],
