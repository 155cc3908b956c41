// Ends a start on a Node.js that the gateway does not run on, with one sentence. It imports nothing that an old one does not have.
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** Whether a version such as `20.19.1` is in a range such as `^20.19 || >=24.11`. */
export function isInRange(version, range) {
  const [major, minor] = version.split('.').map(Number);
  return range.split('||').some((part) => {
    const [, sign, wantedMajor, wantedMinor] = /(\^|>=)(\d+)\.(\d+)/
      .exec(part)
      .map((field, index) => (index < 2 ? field : Number(field)));
    if (major === wantedMajor) return minor >= wantedMinor;
    return sign === '>=' && major > wantedMajor;
  });
}

if (!isInRange(process.versions.node, engines.node)) {
  const versions = engines.node.match(/\d+\.\d+/g).join(', ');
  process.stderr.write(
    `Shim needs one of Node.js ${versions}, or a later version; this is ${process.versions.node}. Get one from https://nodejs.org, or with: nvm install 24\n`,
  );
  process.exit(1);
}
