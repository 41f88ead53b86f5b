// The large matrix as a file, in the colours of paper.
function download(url, name) {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}
const svgUrl = svg => "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);

function savePng(svg, name) {
  const image = new Image(), scale = 3;
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = image.width * scale;
    canvas.height = image.height * scale;
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    context.drawImage(image, 0, 0);
    download(canvas.toDataURL("image/png"), name);
  };
  image.src = svgUrl(svg);
}
