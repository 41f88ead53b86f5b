// Pages open from the disk in a browser without an error, show something and ask for nothing beside
// themselves; a site's ask for what lies in the folders _static and _images beside the first.
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
  const others = tab.requests.filter(url => !/^(data|blob|about):/.test(url) && !url.startsWith(address) &&
    !["_static/", "_images/"].some(beside => url.startsWith(folder + beside)));
  for (const problem of [...tab.errors, ...others.map(url => "it asks for " + url), ...size < 100 ? ["it is empty"] : []]) {
    console.log(`${page}: ${problem}`);
    status = 1;
  }
}
await browser.close();
process.exit(status);
