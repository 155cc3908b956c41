import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';

const require = createRequire(import.meta.url);

/** The compiled file of a source; a file of a package is itself. */
function builtOf(path, { rootDir }) {
  const file = relative(rootDir, path);
  if (!file.startsWith('src/')) return path;
  return join(rootDir, 'dist', file.slice('src/'.length).replace(/\.ts$/, '.js'));
}

/** A Jest transformer: a source becomes a module with the exports of its compiled file; see environment.js. */
export default {
  getCacheKey(_source, path, { config }) {
    const built = builtOf(path, config);
    const key = createHash('sha256')
      .update(import.meta.url)
      .update(built);
    return key.update(readFileSync(built)).digest('hex').slice(0, 32);
  },

  process(_source, path, { config }) {
    const built = builtOf(path, config);
    const names = Object.keys(require(built)).filter((name) => name !== 'default');
    return {
      code: [
        `const built = requireBuilt(${JSON.stringify(built)});`,
        'export default built.default;',
        ...names.map((name) => `export const ${name} = built.${name};`),
      ].join('\n'),
    };
  },
};
