/** Folders and files of a data folder that a backup holds, by the names they have there. */
export const CLUSTER = 'postgres';
/** Stored files, where they are kept in the data folder. */
export const FILES = 'files';
/** The key of webhook secrets, where the gateway made it. */
export const KEY_FILE = 'secret-key';

/** Opens every archive: what it is. */
export const HEAD = 'shim-backup.json';
/** Closes every archive: nothing is missing before it. */
export const END = 'shim-backup-end';
/** Grows when an older version of the gateway could not read the archive. */
export const FORMAT = 1;
