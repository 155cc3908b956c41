/** Stands in a list of origins for all of them. In a file of its own: the command line reads settings and loads no framework. */
export const EVERY_ORIGIN = '*';
