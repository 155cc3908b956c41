import { opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** A folder or a regular file; `name` is relative, with slashes. */
export interface FoundFile {
  readonly name: string;
  readonly isFolder: boolean;
}

/** Yields each folder before its content. The content is skipped if `skipsContentOf` is true. Other kinds of file are skipped. */
export async function* filesBelow(
  root: string,
  skipsContentOf: (folder: string) => boolean = () => false,
  folder = '',
): AsyncGenerator<FoundFile> {
  const entries = await opendir(join(root, folder)).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return [];
  });
  for await (const entry of entries) {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      yield { name, isFolder: true };
      if (!skipsContentOf(name)) yield* filesBelow(root, skipsContentOf, name);
    } else if (entry.isFile()) {
      yield { name, isFolder: false };
    }
  }
}
