import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../', import.meta.url);

/** The text of a file of the repository. The path begins at the root. */
export const readText = (path: string): Promise<string> => readFile(new URL(path, ROOT), 'utf8');

/** Path and text of each file below the folders whose name matches. */
export async function* filesOf(
  folders: readonly string[],
  name: RegExp,
): AsyncGenerator<readonly [path: string, text: string]> {
  for (const folder of folders) {
    const found = await readdir(fileURLToPath(new URL(folder, ROOT)), { recursive: true });
    for (const file of found.sort()) {
      if (name.test(file) && !file.includes('node_modules/'))
        yield [`${folder}${file}`, await readText(`${folder}${file}`)];
    }
  }
}

interface Requirement {
  readonly id: string;
  readonly area: string;
  readonly text: string;
}

/** The rows of `requirements.tsv`. */
export async function requirements(): Promise<readonly Requirement[]> {
  const [, ...lines] = (await readText('test/conformance/requirements.tsv')).trimEnd().split('\n');
  return lines.map((line) => {
    const [id = '', area = '', text = ''] = line.split('\t');
    return { id, area, text };
  });
}
