import type { CommandDeclaration, OperandDeclaration } from './command-declaration.js';
import { optionsOf } from './command-declarations.js';
import { didYouMean } from '../common/nearest-name.js';
import type { Options } from './operator-request.js';

/**
 * What is wrong with the operands and the names of the options, as the rest of a sentence that begins with the command;
 * undefined if nothing is. A word or option that is left out of account could change what the operator meant, so it is
 * refused.
 */
export function misuseOf(
  declaration: CommandDeclaration,
  words: readonly string[],
  options: Options,
): string | undefined {
  const { operands = [] } = declaration;
  const known = Object.keys(optionsOf(declaration));
  const other = Object.keys(options).find((option) => !known.includes(option));
  if (other !== undefined) {
    return `does not take ${dashed(other)}.${didYouMean(other, known, '--')}`;
  }
  const missing = operands[words.length];
  if (missing !== undefined && isNeeded(missing, options)) return `needs ${missing.name}.`;
  const extra = words[operands.length];
  return extra && `does not take ${JSON.stringify(extra)}.`;
}

const dashed = (option: string): string => (option.length === 1 ? `-${option}` : `--${option}`);

function isNeeded({ isOptional, insteadOf = [] }: OperandDeclaration, options: Options): boolean {
  if (isOptional === true) return false;
  return !insteadOf.some((option) => options[option] !== undefined);
}
