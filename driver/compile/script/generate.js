    generate: (text, settings) => ask({text: given("text", text)}, settings)[0].text,
    generate_text: (text, settings) => ofEach(text, one => model.generate(one, settings)),