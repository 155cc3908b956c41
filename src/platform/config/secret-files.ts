import { readFileSync, statSync } from 'node:fs';

/** How the name of a variable ends that names the file with the value of another one: `SECRET_KEY_FILE`. */
const SUFFIX = '_FILE';
/** The largest file that is read as a secret. */
const MAX_FILE_BYTES = 65_536;

/** The variable that names the file with the value of this one. */
export const fileVariableOf = (name: string): string => name + SUFFIX;

/** The variable whose value is in the file that this variable names; undefined where the name does not end so. */
export function ownerOfFile(name: string): string | undefined {
  return name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : undefined;
}

/**
 * The value of a secret: of the variable itself or, where `NAME_FILE` is set, the text of that file without the spaces
 * and line ends around it. Undefined where neither is set; an empty variable counts as unset. The problem names the
 * variable and quotes neither value nor text.
 */
export function readSecret(
  environment: NodeJS.ProcessEnv,
  name: string,
): { readonly value: string | undefined } | { readonly problem: string } {
  const { [name]: text = '' } = environment;
  const value = text === '' ? undefined : text;
  const path = environment[fileVariableOf(name)];
  if (path === undefined || path === '') return { value };
  if (value !== undefined)
    return { problem: `${name}: is set beside ${fileVariableOf(name)}; set one` };
  const reading = read(path);
  return 'value' in reading
    ? reading
    : { problem: `${fileVariableOf(name)}: ${path} ${reading.problem}` };
}

function read(path: string): { readonly value: string } | { readonly problem: string } {
  try {
    const found = statSync(path);
    // A pipe that nobody writes to would never end.
    if (!found.isFile()) return { problem: 'is no file' };
    if (found.size > MAX_FILE_BYTES) return { problem: `has more than ${MAX_FILE_BYTES} bytes` };
    const value = readFileSync(path, 'utf8').trim();
    return value === '' ? { problem: 'is empty' } : { value };
  } catch (error) {
    return { problem: `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})` };
  }
}
