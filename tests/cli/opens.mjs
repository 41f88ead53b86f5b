// Pages open from the disk in a browser without an error, show something and ask for nothing from outside
// of the first one's folder.
// Usage: node opens.mjs PAGE.html …
import {pathToFileURL} from "node:url";
import {openBrowser} from "./browser.mjs";

const browser = await openBrowser(process.env.BROWSER);
const folder = new URL(".", pathToFileURL(process.argv[2])).href;
let status = 0;
for (const page of process.argv.slice(2)) {
  const tab = await browser.openTab(), address = pathToFileURL(page).href;
  await tab.goTo(address);
  const size = await tab.evaluate("document.body.innerText.length");
  const others = tab.requests.filter(url => !/^(data|blob|about):/.test(url) && !url.startsWith(folder));
  for (const problem of [...tab.errors, ...others.map(url => "it asks for " + url), ...size < 100 ? ["it is empty"] : []]) {
    console.log(`${page}: ${problem}`);
    status = 1;
  }
}
await browser.close();
process.exit(status);
