export declare function coreFiles(): string[];
export declare function untouchedOperations(): string[] | undefined;
