/** Permissions of what only the user of this process may read: files. */
export const PRIVATE_FILE_MODE = 0o600;

/** As PRIVATE_FILE_MODE: folders. */
export const PRIVATE_FOLDER_MODE = 0o700;
