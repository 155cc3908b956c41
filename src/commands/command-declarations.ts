import {
  COMMON_OPTIONS,
  type CommandDeclaration,
  type OptionDeclaration,
} from './command-declaration.js';
import { ACCOUNT_DECLARATIONS } from './declarations/account-declarations.js';
import { CALL_DECLARATIONS, TASK_DECLARATIONS } from './declarations/call-declarations.js';
import { ENDPOINT_DECLARATIONS } from './declarations/endpoint-declarations.js';
import { FILE_DECLARATIONS, GATEWAY_DECLARATIONS } from './declarations/gateway-declarations.js';
import { KEY_DECLARATIONS } from './declarations/key-declarations.js';
import { PROVIDER_DECLARATIONS } from './declarations/provider-declarations.js';
import { PRICE_BOOK_DECLARATIONS } from './declarations/price-book-declarations.js';

const ALL = {
  ...ACCOUNT_DECLARATIONS,
  ...KEY_DECLARATIONS,
  ...PRICE_BOOK_DECLARATIONS,
  ...CALL_DECLARATIONS,
  ...ENDPOINT_DECLARATIONS,
  ...TASK_DECLARATIONS,
  ...PROVIDER_DECLARATIONS,
  ...GATEWAY_DECLARATIONS,
  ...FILE_DECLARATIONS,
};

/** The name of a command. */
export type CommandName = keyof typeof ALL;
/** The name of a command about tasks. */
export type TaskCommandName = keyof typeof TASK_DECLARATIONS;
/** The name of a command that opens no running gateway: about files, or about the schema. */
export type FileCommandName = keyof typeof FILE_DECLARATIONS;
/** The name of any other command. */
export type OperatorCommandName = Exclude<CommandName, TaskCommandName | FileCommandName>;

/** Every command in the order of the help. */
export const COMMANDS: Readonly<Record<string, CommandDeclaration>> = ALL;

/** What the command takes; undefined for an unknown one. */
export function declarationOf(name: string): CommandDeclaration | undefined {
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
}

/** The options of the command with those that every command takes. */
export function optionsOf({
  options = {},
}: CommandDeclaration): Readonly<Record<string, OptionDeclaration>> {
  return { ...options, ...COMMON_OPTIONS };
}

/** Whether the command opens no running gateway. */
export function isFileCommand(name: string): name is FileCommandName {
  return Object.hasOwn(FILE_DECLARATIONS, name);
}
