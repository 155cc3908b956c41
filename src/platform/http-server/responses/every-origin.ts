/**
 * The entry of an origin list that permits every origin. It has a separate file because the command line reads settings
 * and loads no framework.
 */
export const EVERY_ORIGIN = '*';
