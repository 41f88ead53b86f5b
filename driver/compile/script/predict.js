    predict(text, settings) {
      const {predictions, note} = ask({text: given("text", text)}, settings)[0];
      if (note)
        console.warn(note);
      return predictions;
    },
    predict_text: (text, settings) => ofEach(text, one => model.predict(one, settings)),
    tokens: text => ask({text: given("text", text), top: 1})[0].tokens ?? [],
