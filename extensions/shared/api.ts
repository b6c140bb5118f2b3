// Made from docs/reference/openapi.json by `npm run build` in extensions/types. Do not edit.

export interface paths {
    "/api/sandboxes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The caller's sandboxes at all nodes, the oldest first. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SandboxList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Makes a sandbox, which is ready for commands. A session that is handed in logs somebody in there, or
         *     nothing is made.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["CreateSandbox"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SandboxView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sandboxes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One sandbox. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SandboxView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /** Ends a sandbox. What it held of a session is written back when this answers. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["EndedSandbox"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sandboxes/{id}/display": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The display of a sandbox, over WebSocket: binary messages, which make a stream of RFB 3.8 together. The viewer is
         *     asked for no password.
         */
        get: {
            parameters: {
                query?: {
                    /** @description What `POST` to the same address answered; stands for a key. */
                    ticket?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                101: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** An address that shows the display of a sandbox, once, within a minute; for pages, which send no headers there. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["DisplayAccess"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sandboxes/{id}/exec": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Runs a command, and tells what it writes while it runs as server-sent events, each an `ExecEvent`;
         *     the last one says how it ended. A client that leaves ends the command.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ExecSandbox"];
                };
            };
            responses: {
                /** @description Events */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": string;
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sandboxes/{id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A file of a sandbox: a plain one, of at most 64 MiB. An answer that breaks off is not whole. */
        get: {
            parameters: {
                query: {
                    /** @description Its path, from the workspace on. */
                    path: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The file */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/octet-stream": number[];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        /** Writes a file of a sandbox, whole or not at all; its folders are made. */
        put: {
            parameters: {
                query: {
                    /** @description Its path, from the workspace on. */
                    path: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/octet-stream": number[];
                };
            };
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/signaling/ws": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The relay: JSON messages of the debug protocol, one a frame. Browsers come with a ticket of
         *     `/debug/connect` as a subprotocol, others with a key.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                101: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/asked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Where a guest's ask stands. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["GuestView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/asked/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A guest is done, or cannot do it: the session is given back, and what they saw is dark. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["EndAsk"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["GuestView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/asked/files/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Puts a file of a guest among those of the session, where files were asked for. */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/octet-stream": number[];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionFile"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/asked/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The one tab live, over WebSocket, as `/sessions/{id}/live` shows a session: one tab, without addresses, as long
         *     as it is at a site that was asked for. Who connects drives.
         */
        get: {
            parameters: {
                query?: {
                    /** @description What `POST` to the same address answered. */
                    ticket?: string;
                    /** @description The mark of the node that answered it. */
                    node?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                101: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** An address that shows a guest the one tab, once, within a minute. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["LiveAccess"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/asked/look": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What a link is for: who asks for what. Uses nothing up, however often. Needs no key: the link is one. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["LookAtAsk"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["GuestView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/asked/open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Opens what a link is for, once, in the browser that asks; or declines it. The answer has one half of what opens
         *     it from then on, and a cookie the other. Needs no key: the link is one.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RedeemAsk"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OpenedAsk"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who did what, newest first: the caller's own entries with the scope `read`, those of every owner
         *     with the scope `admin`.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description Only those about what this owner has. Without the scope `admin` there are no others than the
                     *     caller's own.
                     */
                    owner?: string;
                    /** @description Only those before this one: the `next` of the page before. */
                    after?: components["schemas"]["AuditId"];
                    /** @description How many at most: 1 to 200, 50 when left out. */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AuditList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cocoons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The caller's cocoons, and where their pages are. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CocoonList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cocoons/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Names a service that the proxy stands in front of from now on, or says something else of it. */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PutCocoon"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CocoonView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        post?: never;
        /** Takes a service from behind the proxy. */
        delete: {
            parameters: {
                query?: {
                    /** @description The caller's own when left out. */
                    owner?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cocoons/{id}/ticket": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An address that opens a cocoon in a browser, once, within a minute: browsers bear no key. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CocoonTicket"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/debug/connect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A ticket for one connection of the caller's browser, and which pages it watches. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ConnectBrowser"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["BrowserConnection"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/debug/pair": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A code with which the caller pairs a browser: it is typed into the extension within five minutes. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PairingCode"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/debug/pair/exchange": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The key of a browser, for a code that counts. Needs no key: the code is one. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ExchangePairing"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PairedBrowser"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/debug/tabs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The tabs that can be looked into: of the caller's sessions that are recorded, and of its cocoons; in a cluster those
         *     of all nodes.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["DebugTabs"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/debug/tabs/{token}/console": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The lines of a tab's console that fit the filters, the newest last. Secrets are hidden unless revealed. */
        post: {
            parameters: {
                query?: {
                    /**
                     * @description When nothing fits, so many seconds for what comes, at most 20. Together with `after` this
                     *     follows a tab.
                     */
                    wait?: number;
                    /** @description Show secrets, of a tab whose secrets are kept. Needs the scope `reveal` too. */
                    reveal?: boolean;
                };
                header?: never;
                path: {
                    token: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ConsoleFilters"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ConsoleData"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/debug/tabs/{token}/har": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is kept of a tab as an HTTP Archive (HAR 1.2). Secrets are hidden unless revealed. */
        get: {
            parameters: {
                query?: {
                    /** @description Show secrets, of a tab whose secrets are kept. Needs the scope `reveal` too. */
                    reveal?: boolean;
                };
                header?: never;
                path: {
                    token: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description An HTTP Archive, version 1.2 */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/debug/tabs/{token}/network": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The requests of a tab that fit the filters, the newest last. Secrets are hidden unless revealed. */
        post: {
            parameters: {
                query?: {
                    /**
                     * @description When nothing fits, so many seconds for what comes, at most 20. Together with `after` this
                     *     follows a tab.
                     */
                    wait?: number;
                    /** @description Show secrets, of a tab whose secrets are kept. Needs the scope `reveal` too. */
                    reveal?: boolean;
                };
                header?: never;
                path: {
                    token: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NetworkFilters"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["NetworkData"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * That something changed: an event `sessions` when the caller's sessions are others than before or stand
         *     elsewhere, with the scope `debug` an event `tabs` when the tabs that can be looked into are others, and with the
         *     scope `sandbox` an event `sandboxes` when the caller's sandboxes are. Of tabs and sandboxes at other nodes a
         *     cluster with a bus alone tells. What it is, the lists tell.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description Whether an event `snapshots` tells of each session of which something was written, such as a snapshot:
                     *     its `id`, or none where too much came at once.
                     */
                    snapshots?: boolean;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Events */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": string;
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/federation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The board as it is now, and who drives which session. It is the local owner's. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["FederationView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Does something with the board; it is on disk when this answers. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ChangeFederation"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["FederationChange"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/federation/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The board as server-sent events: an event `board` with a `FederationView` now and after each change,
         *     an event `problem` with a `Problem` when it cannot be read.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Events */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": string;
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/federation/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Which agent drives which of the caller's sessions. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["DrivenSessions"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the node lives, and who it is. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Health"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The keys of an owner, without their secrets. */
        get: {
            parameters: {
                query?: {
                    /** @description The caller's own when left out. */
                    owner?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["KeyList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Makes a key; its secret is shown this once. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["CreateKey"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CreatedKey"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revokes a key: from now on it opens nothing. */
        delete: {
            parameters: {
                query?: {
                    /** @description The caller's own when left out. */
                    owner?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the node has to tell a client of an older protocol besides its answers. */
        get: {
            parameters: {
                query?: {
                    /** @description Toolsets, with commas between them; all when left out. */
                    toolsets?: string;
                    /** @description No person is asked: the one who set the client up agreed to exports and abandons beforehand. */
                    unattended?: boolean;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Events */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** A message of the Model Context Protocol; the answer may be a stream of events. */
        post: {
            parameters: {
                query?: {
                    /** @description Toolsets, with commas between them; all when left out. */
                    toolsets?: string;
                    /** @description No person is asked: the one who set the client up agreed to exports and abandons beforehand. */
                    unattended?: boolean;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Answers, as JSON or as events */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        /** Ends a client's session of an older protocol. */
        delete: {
            parameters: {
                query?: {
                    /** @description Toolsets, with commas between them; all when left out. */
                    toolsets?: string;
                    /** @description No person is asked: the one who set the client up agreed to exports and abandons beforehand. */
                    unattended?: boolean;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The nodes that are one with this one; none where it is one by itself. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["NodeList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/nodes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One of them. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["NodeView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /**
         * Forgets a node that is gone for good, as one whose machine was destroyed: it is in no list any more, and the key of
         *     its data folder opens nothing. Refused while it may be there still. Its sessions stay, and are resumed at other nodes.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/nodes/{id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Brings what the node runs to other nodes, and lets it take nothing new until that is ended. Refused where the
         *     others have no room for all of it, unless `partly` is said. Answers at once; the node says how far it is.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["DrainNode"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["NodeView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        /** Ends that: the node takes new sessions again. What is on its way arrives. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["NodeView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/nodes/{id}/sessions/{session}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Another node of the cluster gives a session to this one, or found it left behind by one that fell silent: it runs
         *     here when this answers, with the files that came ahead of it. Only nodes of the cluster ask this.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    session: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TakeSession"];
                };
            };
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        /**
         * Another node does not give a session after all: what came ahead of it is removed. Only nodes of the cluster ask
         *     this.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    session: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/nodes/{id}/sessions/{session}/files/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * A file of a session that comes, whole or not at all; it is among those of the session once that runs here. Only
         *     nodes of the cluster ask this.
         */
        put: {
            parameters: {
                query: {
                    /** @description In microseconds since 1970. */
                    modified: number;
                };
                header?: never;
                path: {
                    id: string;
                    session: string;
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/octet-stream": number[];
                };
            };
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        post?: never;
        /** A file that came ahead of a session, and that it has no more. Only nodes of the cluster ask this. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    session: string;
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/nodes/{id}/sessions/{session}/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A session that another node is about to give runs there still: a profile of its newest snapshot is made ready here
         *     when this answers. Only nodes of the cluster ask this.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    session: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/nodes/{id}/tools/{tool}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A tool of the MCP server, called at this node: what another node asks for its client, because something of it is
         *     here. The events end with how the call ended.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    tool: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["CallTool"];
                };
            };
            responses: {
                /** @description Events */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": components["schemas"]["ToolEvent"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/page/oidc": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Where a browser goes so that a person signs in there, with a cookie by which it is known when it is back. Needs no
         *     key.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PageDeparture"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/page/oidc/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A person is back from the provider: leads the browser to the page, which hears there whether they are let in. Needs
         *     no key, but the cookie of the departure.
         */
        get: {
            parameters: {
                query?: {
                    /** @description What the departure had. */
                    state?: string;
                    /** @description What this node exchanges for who it is. */
                    code?: string;
                    /** @description Why there is none. */
                    error?: string;
                    /** @description The same in words. */
                    error_description?: string;
                    /** @description Who sends it back. */
                    iss?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                303: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/page/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** As whom the page asks, and until when. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PageView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Signs the page in, with a code or, where the request shows one, with an API key. The answer has one half of
         *     what opens the node from then on, and a cookie the other. Needs no key: the code is one.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PageSignIn"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PageSession"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        /** Signs the page out: it opens nothing any more, and what it has open ends. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/page/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An address that opens the page once, within two minutes, in the name of the caller's key. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PageTicket"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/page/ways": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How people sign in to the page, beside a key and a code. Needs no key. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PageWays"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the node can work: its database answers, and where it is one of several, the others know that it is there. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ready"];
                    };
                };
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The caller's sessions, newest first. */
        get: {
            parameters: {
                query?: {
                    /** @description Only those in this state. */
                    state?: components["schemas"]["Lifecycle"];
                    /** @description Only those after this one: the `next` of the page before. */
                    after?: components["schemas"]["SessionId"];
                    /** @description How many at most: 1 to 1000, 50 when left out. */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Opens a session in a browser of its own. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["OpenSession"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/attach": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Attaches to a browser of this machine that someone else started. Needs the scope `admin`,
         *     because such an address opens whatever listens there.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["AttachSession"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a recoverable session of a session file or of a Playwright storageState. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ImportSession"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ImportView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One session in full. What may be secret in the addresses of its tabs is hidden unless revealed. */
        get: {
            parameters: {
                query?: {
                    /** @description Show secret values; needs the scope `reveal`. */
                    reveal?: boolean;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /** Removes a session that is not active, with its snapshots, receipts and profile. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/abandon": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Closes a session without a last snapshot and removes its profile. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/ask": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Asks a person to do something in a session. The answer has the link, this once, and says whether other machines
         *     can open it, and who was told.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["AskPerson"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CreatedAsk"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/ask/{ask}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What became of an ask, or, by the word `open` in the place of its id, of the one that is open. With `wait` the
         *     answer comes once that is something else, or so many seconds later.
         */
        get: {
            parameters: {
                query?: {
                    /** @description For so many seconds, at most 30, the answer waits until something else is so. */
                    wait?: number;
                    /** @description The state that the caller knows; left out, that of the moment of the request. */
                    after?: "waiting" | "opened" | "done" | "declined" | "timed_out" | "withdrawn" | "lost";
                };
                header?: never;
                path: {
                    id: string;
                    ask: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AskView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /**
         * Takes an ask back, or, by the word `open` in the place of its id, the one that is open: its link opens nothing any
         *     more, and who has opened it sees nothing more.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    ask: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AskView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/capture": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes a snapshot now; it is on disk when this answers. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SnapshotView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/cdp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The session's browser over WebSocket: the Chrome DevTools Protocol, for one client beside others. */
        get: {
            parameters: {
                query?: {
                    /** @description What `POST` to the same address answered; stands for a key. */
                    ticket?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                101: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** An address that opens the session's browser by itself, for tools that send no headers. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["OpenCdp"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CdpAccess"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes a last snapshot, ends the browser and closes the session. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/contexts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The contexts that clients made in the session's browser (incognito windows, Playwright's
         *     `newContext()`), with their tabs. They are not kept by themselves.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ContextList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/contexts/keep": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Makes a recoverable session of its own of what one of these contexts holds now: its cookies, its tabs,
         *     and the storage of the sites that they show. What happens in the context later is not in it.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["KeepContext"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ImportView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/debug": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Switches on or off whether what the session's tabs do is recorded, now and after every resume. To keep
         *     their secrets too needs the scope `reveal`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SwitchDebug"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What changed from one snapshot of a session to another, without a value of either. */
        get: {
            parameters: {
                query: {
                    /** @description The one before. */
                    a: string;
                    /** @description The one after. */
                    b: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["DiffView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A session as a file; an active one is captured first. Needs the scope `reveal`, because whoever
         *     has the file is logged in.
         */
        get: {
            parameters: {
                query: {
                    /** @description `session` says everything, `storage-state` what Playwright knows. */
                    format: components["schemas"]["ExportFormat"];
                    /**
                     * @description Adds the browser's own folders of databases that hold keys which a site marked as not
                     *     extractable. The format must be `session`, and no browser may run for it.
                     */
                    deep?: boolean;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ExportView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The files of a session: what its browser uploads from, and downloads to. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionFiles"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/files/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A file of a session. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The file */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/octet-stream": number[];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        /**
         * Puts a file among those of a session, whole or not at all, in the place of one of that name. Its
         *     path is what a tool names to have the browser upload it.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/octet-stream": number[];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionFile"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        post?: never;
        /** Removes a file of a session. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A session's snapshots, newest first, and which of them a resume would take. */
        get: {
            parameters: {
                query?: {
                    /** @description Only those before this one: the `next` of the page before. */
                    after?: components["schemas"]["SnapshotId"];
                    /** @description How many at most: 1 to 200, 50 when left out. */
                    limit?: number;
                    /**
                     * @description Reads all parts of the snapshots of the page: each says how many of its parts are damaged, and
                     *     `resumes_from` minds that too.
                     */
                    verify?: boolean;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["History"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/icon": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The icon of the site that the latest snapshot shows. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "image/png": number[];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A session live, over WebSocket: pictures as binary messages, all else as `LiveMessage` and `ViewerMessage`.
         *     It waits for a browser where there is none.
         */
        get: {
            parameters: {
                query?: {
                    /** @description What `POST` to the same address answered; stands for a key. */
                    ticket?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                101: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** An address that shows a session live, once, within a minute; for pages, which send no headers there. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["LiveAccess"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/logins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Where the session may be logged in, and how long that lasts. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["LoginList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/pass": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Passes a session to another agent, or to nobody; whoever does not drive it says why. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PassSession"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The preview of the latest snapshot, or of the one that is named. */
        get: {
            parameters: {
                query?: {
                    /** @description A snapshot of the session: an id, or a unique prefix of one; the latest when left out. */
                    snapshot?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "image/png": number[];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Brings a session back from its last good snapshot; the receipt says what came back. */
        post: {
            parameters: {
                query?: {
                    /** @description Which browser sites see from now on; left out: as it is. */
                    browser?: "same" | "new";
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ResumeResult"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Brings a session back from any of its snapshots. An active one is captured first, and its browser
         *     ends.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RollBack"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ResumeResult"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/save": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a revision of a session as it is now: what moves between nodes. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SaveSession"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the latest snapshot holds; secret values are replaced by markers unless revealed. */
        get: {
            parameters: {
                query?: {
                    /** @description Show secret values; needs the scope `reveal`. */
                    reveal?: boolean;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["StateView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/card": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who this node is: its keys, each signed by itself. A person compares the fingerprint. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["NodeCard"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/conflicts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The caller's sessions in which someone has to choose. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ConflictList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/conflicts/{session}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How the revisions of a session differ between which someone has to choose: by site and kind, counts
         *     and names, without a value.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ConflictDetails"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Ends the conflicts of a session: one revision counts from now on. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ResolveConflict"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ConflictView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/differences/{peer}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How the caller's sessions stand here and at a peer. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    peer: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["DifferenceList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/directory": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How it stands with the sync directory: where it is, and which files in it are left aside, and why. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["DirectoryView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How sync stands: an event `sync` with a `SyncStanding` now and after each change, an event `problem` with
         *     a `Problem` when that cannot be found out. With `peers=true` peers are asked for what they have, and tell
         *     by themselves when they have something else.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Whether peers are asked for what they have, for as long as the stream is open. */
                    peers?: boolean;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Events */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": string;
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes a sync file that a confirmed peer sealed for this node. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": Record<string, never>;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TakenFile"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/greeting": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Hears who asks, and says nothing but that. A node that nobody here has confirmed is known from now on, and
         *     is refused.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/vnd.baton.sealed": number[];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/icons/{peer}/{session}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The icon of a session at a peer, which is asked for it unless it said so lately. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    peer: string;
                    session: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "image/png": number[];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/index": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The caller's sessions that were saved. A node that signs its request gets them sealed. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SyncIndex"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/index/next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The sessions of this node for a node that has seen them: sealed, as soon as they are others, or after a
         *     while the word that they are not.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/vnd.baton.sealed": number[];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/vnd.baton.sealed": number[];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The open invitations, without their texts, and where this node listens for peers alone. Needs the scope
         *     `admin`.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InvitationList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Invites another node: the text in the answer lets one node join, once, within ten minutes. With `listen`
         *     this node listens for peers there from now on, in TLS with a certificate of its own. Needs the scope `admin`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["CreateInvitation"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CreatedInvitation"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/invitations/redeem": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Lets a node join that proves that it has the secret of an invitation; what it is given is sealed for it.
         *     Needs no key: the proof is one, and the node has signed the request.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/vnd.baton.sealed": number[];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/vnd.baton.sealed": number[];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/invitations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Takes an open invitation back. Needs the scope `admin`. */
        delete: {
            parameters: {
                query?: {
                    /** @description Close the listener for peers as well that was opened for it, unless another invitation was made since. */
                    listener?: boolean;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/join": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Takes an invitation of another node: both nodes are confirmed peers of each other then. Needs the scope
         *     `admin`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["JoinPeer"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PeerView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/listener": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Closes the listener for peers alone; it is not opened at the next start. Needs the scope `admin`. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/peers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This node and its peers, each with whether it answers. */
        get: {
            parameters: {
                query?: {
                    /** @description Do not ask them whether they answer: for whoever asks them next anyway. */
                    unasked?: boolean;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PeerList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Registers a node by its address. It is pending until its fingerprint is confirmed. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RegisterPeer"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PeerView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/peers/{peer}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Forgets a peer and what opens it. Needs the scope `admin`. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    peer: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/peers/{peer}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Confirms a peer whose fingerprint somebody has compared. Needs the scope `admin`. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    peer: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ConfirmPeer"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PeerView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/peers/{peer}/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Sets how much of sessions goes to a peer and is taken from it, in the place of what was set before:
         *     in each direction the sites and the kinds that are named, everything where none are, and nothing
         *     where the list of them is empty. Needs the scope `admin`.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    peer: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PeerLimits"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PeerView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/peers/{peer}/ping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Asks a peer whether it answers, now. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    peer: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PeerView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/pull/{peer}/{session}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pulls a session from a peer. When time runs out it answers `unfinished`, and goes on when called
         *     again.
         */
        post: {
            parameters: {
                query?: {
                    /**
                     * @description After so many seconds, 1 to 80, it answers how much is left; whoever shows how far it is, or may stop
                     *     it, asks for few. 80 when left out.
                     */
                    seconds?: number;
                };
                header?: never;
                path: {
                    peer: string;
                    session: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Movement"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/push/{peer}/{session}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pushes a session to a peer. When time runs out it answers `unfinished`, and goes on when called
         *     again.
         */
        post: {
            parameters: {
                query?: {
                    /**
                     * @description After so many seconds, 1 to 80, it answers how much is left; whoever shows how far it is, or may stop
                     *     it, asks for few. 80 when left out.
                     */
                    seconds?: number;
                };
                header?: never;
                path: {
                    peer: string;
                    session: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Movement"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Takes a session file. `If-Match` names the revision that it comes from, which must be the newest;
         *     without it, a session that is here already gets a conflict.
         */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "If-Match"?: string | null;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": Record<string, never>;
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The current revision of a session as a session file; its name is in `ETag`. Needs the scope
         *     `reveal` as well.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /** Deletes a session here, and at its peers as soon as they hear of it. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/sessions/{id}/lease": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Hands a session over: what it holds is captured, saved and closed when this answers. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/vnd.baton.sealed": number[];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/vnd.baton.sealed": number[];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/sessions/{id}/parts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Takes parts of a session, which lie aside until its revisions come. They are on disk when this
         *     answers.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/vnd.baton.sealed": number[];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/vnd.baton.sealed": number[];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/sessions/{id}/parts/fetch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Parts of a session, sealed for the node that asks. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/vnd.baton.sealed": number[];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/vnd.baton.sealed": number[];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/sessions/{id}/revisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The revisions of a session, and of which parts they are made; sealed for the node that asks. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/vnd.baton.sealed": number[];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Takes the revisions of a session, or says which parts have to come first. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/vnd.baton.sealed": number[];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/vnd.baton.sealed": number[];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/sessions/{id}/revisions/seen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What of the revisions of a session is in a view, and of which parts that is made; sealed for the node
         *     that asks, which takes no more.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/vnd.baton.sealed": number[];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/vnd.baton.sealed": number[];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/sessions/{id}/seal/{peer}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Saves a session and seals all that is shared of it for a confirmed peer, for those without a network
         *     between the nodes. Only that node can open the file.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    peer: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SealedFile"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sync/sessions/{session}/icon": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The icon of what was last saved of a session, sealed for the node that asks; empty when there is none
         *     for it.
         * @description Nothing of the session goes with it, so its parameter is not the one by which it is noted who may hold
         *     something of a session.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/vnd.baton.sealed": number[];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the caller's owner has over all nodes of the database, and how much it may have. */
        get: {
            parameters: {
                query?: {
                    /** @description The caller's own when left out; another one's with the scope `admin`. */
                    owner?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UsageView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Asks an agent, which runs in a sandbox of its own until it has answered, or its caller leaves. With
         *     `stream`, the answer is server-sent events, each a `ChatChunk`, and `[DONE]` at last.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ChatRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ChatCompletion"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ChatError"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The agents that may be asked. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ModelList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ChatError"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One of the agents that may be asked. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Name of the agent */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Model"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ChatError"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description An agent's name: 1 to 64 of the characters `A-Z a-z 0-9 . _ -`, and not a dot alone or two. The
         *     same form as on the board, where it is the name of a file.
         */
        AgentName: string;
        /** @description An answer began. */
        Answered: {
            /** @description Whether it came from a cache. */
            from_cache?: boolean;
            headers?: components["schemas"]["BTreeMap"] | null;
            /** @description Such as `text/html`. */
            mime_type?: string | null;
            /** @description The browser's id of the request. */
            request_id: string;
            resource_type?: components["schemas"]["ResourceType"] | null;
            /**
             * Format: int32
             * @description Its status; 0 where the browser hides it.
             */
            status: number;
            /** @description Such as `OK`. */
            status_text?: string | null;
            /** @description When. */
            timestamp: components["schemas"]["EpochMs"];
            /** @description Where the request went: an answer whose request was missed is shown by it. */
            url?: string | null;
        };
        /** @description What a person's work changed. No value is in it. */
        AskOutcome: {
            /**
             * @description What that snapshot could not take, because it is bound to this device or did not answer, as a receipt
             *     says it.
             */
            bound?: components["schemas"]["Unread"][];
            /** @description It in a sentence, such as `2 cookies and 1 database at bank.example are new; ends in 14 days`. */
            changed: string;
            /** @description The same by site and kind. */
            changes: components["schemas"]["SiteDiff"][];
            /**
             * Format: date-time
             * @description When the first cookie ends that is new or changed; none where none of them has an end.
             */
            ends_at?: string | null;
            /** @description The snapshot that was taken when it was over. */
            snapshot?: string | null;
        };
        /** @description Asks a person to do something in a session. */
        AskPerson: {
            /** @description Whether the person may give files of their own to the site. */
            files?: boolean;
            /**
             * Format: int32
             * @description For how many minutes, 1 to 60; left out, 10.
             */
            minutes?: number | null;
            /** @description The sites that the person sees, each with all that is below it; none means that of the tab in front. */
            sites?: string[];
            /** @description What is to be done, in 1 to 500 characters without control characters. */
            text: string;
        };
        /** @description Where a link can be opened. */
        AskReach: {
            /** @description What to do so that another machine opens it. */
            hint?: string | null;
            /** @description Whether only a browser on the node's machine opens it. */
            this_machine_only: boolean;
        };
        /**
         * @description Where an ask stands.
         * @enum {string}
         */
        AskState: "waiting" | "opened" | "done" | "declined" | "timed_out" | "withdrawn" | "lost";
        /** @description What a person was asked. */
        AskView: {
            agent?: components["schemas"]["AgentName"] | null;
            /**
             * Format: date-time
             * @description When its time has passed.
             */
            expires_at: string;
            /** @description Whether the person may give files to the site. */
            files: boolean;
            /** @description Names it. */
            id: string;
            /** @description What that is called. */
            name: components["schemas"]["SessionName"];
            outcome?: components["schemas"]["AskOutcome"] | null;
            person?: components["schemas"]["AgentName"] | null;
            /** @description In which session. */
            session: components["schemas"]["SessionId"];
            /** @description The sites that the person sees. */
            sites: string[];
            /** @description Where it stands. */
            state: components["schemas"]["AskState"];
            /** @description What is to be done. */
            text: string;
        };
        /** @description Attaches to a browser that someone else started. */
        AttachSession: {
            /**
             * Format: uri
             * @description The browser's DevTools address: `http://127.0.0.1:9222` or `ws://127.0.0.1:9222/devtools/…`.
             *     Only this machine's loopback addresses are accepted.
             */
            cdp_url: string;
            /** @description Free text for people, at most 1000 characters. */
            description?: string | null;
            /** @description Unique among the owner's sessions that are not closed. */
            name: components["schemas"]["SessionName"];
        };
        /**
         * Format: uuid
         * @description Which entry of the audit log: a version 7 UUID, so that entries sort by the time they were made.
         */
        AuditId: string;
        /** @description A page of the audit log. */
        AuditList: {
            /** @description Newest first. */
            items: components["schemas"]["AuditView"][];
            next?: components["schemas"]["AuditId"] | null;
        };
        /**
         * @description How something that is audited ended.
         * @enum {string}
         */
        AuditOutcome: "done" | "denied" | "failed";
        /** @description One entry of the audit log. It never holds a secret. */
        AuditView: {
            /** @description What was done, such as `session.resume`. */
            action: string;
            /** @description Who did it: an API key as `name (id)`, or `node` when the node did it by itself. */
            actor: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            at: string;
            /** @description More about it; of what failed, `code` is the error's code. */
            detail: Record<string, never>;
            /** @description Which entry. */
            id: components["schemas"]["AuditId"];
            /** @description How it ended. */
            outcome: components["schemas"]["AuditOutcome"];
            /** @description To whom belongs what it was done to. */
            owner: components["schemas"]["Owner"];
            /**
             * @description What it was done to: a session's or a key's id. What was asked for, when there is no such
             *     thing.
             */
            subject: string;
        };
        /**
         * @description What a node shows a peer to be let in. It says who may talk, never who wrote something.
         * @enum {string}
         */
        AuthMethod: "msal" | "apikey" | "tunnel";
        BTreeMap: {
            [key: string]: string;
        };
        /** @description A brand with its version. */
        BrandVersion: {
            /** @description The brand, such as `Chromium`. */
            brand: string;
            /** @description Its version. */
            version: string;
        };
        /** @description With what it connects, and what it watches. */
        BrowserConnection: {
            /** @description Whose pages it watches, and no others. */
            cocoons: components["schemas"]["WatchedCocoon"][];
            /** @description Which names mean a secret at this node, and which do not: the browser hides by them too. */
            redact?: components["schemas"]["OwnNames"];
            /** @description The longest body that is of use, in bytes. */
            response_body_max_size: number;
            /**
             * Format: uri
             * @description Where to.
             */
            signaling_url: string;
            /** @description Opens one connection, within half a minute, as the subprotocol `baton.ticket.` and this. */
            ticket: string;
        };
        /** @description What a browser sends. */
        BrowserMessage: (components["schemas"]["TabAvailable"] & {
            /** @enum {string} */
            type: "browser_debug_tab_available";
        }) | (components["schemas"]["TabClosed"] & {
            /** @enum {string} */
            type: "browser_debug_tab_closed";
        }) | (components["schemas"]["TabUpdated"] & {
            /** @enum {string} */
            type: "browser_debug_tab_updated";
        }) | (components["schemas"]["NetworkEvent"] & {
            /** @enum {string} */
            type: "browser_debug_network_event";
        }) | (components["schemas"]["ConsoleEvent"] & {
            /** @enum {string} */
            type: "browser_debug_console_event";
        }) | {
            /** @enum {string} */
            type: "browser_debug_heartbeat";
        };
        /** @description A browser by its name: what every site sees of it. */
        BrowserName: {
            /**
             * @description Its system, as client hints call it: `Linux`, `macOS`, `Windows`, `Android`, `Chrome OS` or `iOS`.
             * @default
             */
            platform?: string;
            /**
             * @description Its product: `Chrome` for whatever its user agent calls so, Chromium among them; `Edge`, `Firefox` or
             *     `Safari`.
             * @default
             */
            product?: string;
            /**
             * Format: int32
             * @description Its major version.
             * @default 0
             */
            version?: number;
        };
        /** @description A session that is handed in: a whole state, or the name of one that is kept. */
        BrowserSession: {
            /** @description With `reference`: an id, a unique prefix of one, or a name. */
            sessionId?: string | null;
            /**
             * @description With `reference`: another service that keeps the session, one of the node's settings. Left out,
             *     this node keeps it.
             */
            sessionServiceUrl?: string | null;
            /**
             * @description With `reference`: take a copy, and neither hold the session nor write back what changes. A login
             *     whose tokens rotate is lost to one of both.
             */
            shared?: boolean;
            /** @description With `inline`: a Playwright `storageState`, or any other file that is imported. */
            storageState?: unknown;
            /**
             * @description With `reference`, and not `shared`: take the session also when somebody drives it. Whoever that is
             *     loses its browser, which is saved first. For a caller that says no agent's name.
             */
            take?: boolean;
            /**
             * @description With `reference`, and not `shared`: which sites are written back when the sandbox ends. Left out,
             *     those that were handed in; what it holds of others is named then, and left.
             */
            takeBack?: components["schemas"]["TakeBack"];
            /** @description Which of both. */
            type: components["schemas"]["BrowserSessionType"];
        };
        /**
         * @description How a session is handed in.
         * @enum {string}
         */
        BrowserSessionType: "inline" | "reference";
        /** @description What a tool is called with. */
        CallTool: {
            /** @description What a person agreed to, as [`ToolEnd::Ask`] named it. */
            agreed?: string | null;
            /** @description Its arguments, as its schema says. */
            arguments?: {
                [key: string]: unknown;
            };
            /** @description Whether the client can ask a person. */
            can_ask?: boolean;
            /** @description Whether the client hears that work goes on. */
            is_heard?: boolean;
        };
        /** @description An address that opens a session's browser: as good as the browser itself. */
        CdpAccess: {
            /**
             * Format: uri
             * @description Speaks the Chrome DevTools Protocol. It carries a ticket, which is a secret.
             */
            cdp_url: string;
            /**
             * Format: date-time
             * @description When the ticket ends; one that opens once ends with that, too.
             */
            expires_at: string;
        };
        /**
         * @description An X.509 certificate (RFC 5280): of an authority, or of a server with its names. It is written as one
         *     in PEM.
         */
        Certificate: string;
        /** @description What a certificate says of itself. */
        CertificateView: {
            /** @description Whether it is an authority's: then whoever has its key can speak for every site there is. */
            authority: boolean;
            /**
             * Format: date-time
             * @description When it ends; none when that is no instant.
             */
            ends?: string | null;
            /** @description The hosts for which a server's counts; of an authority, none. */
            names?: string[];
            /** @description SHA-256 of it, by which everybody can tell which one it is. */
            sha256: components["schemas"]["PartHash"];
            /** @description Whose it is, such as `CN=Staging CA, O=Example`. */
            subject: string;
        };
        /**
         * @description What became of an item.
         * @enum {string}
         */
        Change: "added" | "removed" | "changed";
        /**
         * @description One thing to do with the board. `agent` is who acts; left out, it is the one of the header
         *     `Baton-Agent`.
         */
        ChangeFederation: {
            agent?: components["schemas"]["AgentName"] | null;
            /** @description What it works on; left out, nothing. */
            current_task?: string | null;
            /** @description Its model; left out, what was there stays. */
            model?: string | null;
            /** @enum {string} */
            operation: "update_agent";
            /** @description `active`, `idle` … in a word of its own. */
            status: string;
            /** @description Its folder; left out, what was there stays. */
            workspace?: string | null;
        } | {
            agent?: components["schemas"]["AgentName"] | null;
            /** @enum {string} */
            operation: "heartbeat";
        } | {
            agent?: components["schemas"]["AgentName"] | null;
            assigned_to?: components["schemas"]["AgentName"] | null;
            /** @description After which tasks. */
            blocked_by?: string[];
            /** @description What. */
            description: string;
            /** @enum {string} */
            operation: "add_task";
            /** @description `low`, `normal`, `high` or `urgent`; left out, `normal`. */
            priority?: string | null;
        } | {
            agent?: components["schemas"]["AgentName"] | null;
            /** @enum {string} */
            operation: "claim_task";
            /** @description Which; left out, the best that is free. */
            task?: string | null;
        } | {
            agent?: components["schemas"]["AgentName"] | null;
            /**
             * Format: int64
             * @description The number that the claim gave; when given it must be that of the claim.
             */
            fence?: number | null;
            /** @enum {string} */
            operation: "start_task";
            /** @description Which. */
            task: string;
        } | {
            agent?: components["schemas"]["AgentName"] | null;
            /**
             * Format: int64
             * @description The number that the claim gave; when given it must be that of the claim.
             */
            fence?: number | null;
            /** @enum {string} */
            operation: "complete_task";
            /** @description Which. */
            task: string;
        } | {
            agent?: components["schemas"]["AgentName"] | null;
            /**
             * Format: int64
             * @description The number that the claim gave; when given it must be that of the claim.
             */
            fence?: number | null;
            /** @enum {string} */
            operation: "release_task";
            /** @description Which. */
            task: string;
        } | {
            agent?: components["schemas"]["AgentName"] | null;
            /** @description For which. */
            on: string[];
            /** @enum {string} */
            operation: "block_task";
            /** @description Which waits. */
            task: string;
        } | {
            /**
             * Format: double
             * @description How often it chose well, from 0 to 1.
             */
            accuracy?: number | null;
            agent?: components["schemas"]["AgentName"] | null;
            /** @enum {string} */
            operation: "set_router";
            /**
             * Format: int64
             * @description Its tier.
             */
            tier?: number | null;
            /** @description Its version; a new one is to be measured again. */
            version?: string | null;
        } | {
            agent?: components["schemas"]["AgentName"] | null;
            /** @enum {string} */
            operation: "set_sprint";
            /** @description What it is called. */
            sprint: string;
        } | {
            agent?: components["schemas"]["AgentName"] | null;
            /** @enum {string} */
            operation: "end_sprint";
        } | {
            agent?: components["schemas"]["AgentName"] | null;
            /** @enum {string} */
            operation: "close";
        };
        /** @description A piece of an answer. */
        ChatChunk: {
            baton?: components["schemas"]["Ran"] | null;
            /** @description The piece; none in the one that tells the tokens. */
            choices: components["schemas"]["ChunkChoice"][];
            /**
             * Format: int64
             * @description When the answer was asked for, in seconds since 1970.
             */
            created: number;
            /** @description Of which answer. */
            id: string;
            /** @description Which agent answers. */
            model: string;
            /** @description `chat.completion.chunk` */
            object: string;
            usage?: components["schemas"]["Usage"] | null;
        };
        /** @description A whole answer. */
        ChatCompletion: {
            /** @description What became of the sandbox. */
            baton: components["schemas"]["Ran"];
            /** @description The one answer. */
            choices: components["schemas"]["Choice"][];
            /**
             * Format: int64
             * @description When it was asked for, in seconds since 1970.
             */
            created: number;
            /** @description Which one. */
            id: string;
            /** @description Which agent answered. */
            model: string;
            /** @description `chat.completion` */
            object: string;
            usage?: components["schemas"]["Usage"] | null;
        };
        /** @description An answer that failed. */
        ChatError: {
            /** @description Why. */
            error: components["schemas"]["ChatErrorBody"];
        };
        /** @description Why an answer failed. */
        ChatErrorBody: {
            /** @description Baton's code. */
            code: string;
            /** @description What was expected, what was found, and what to do. */
            message: string;
            /** @description Always null: the message names the field. */
            param?: string | null;
            /** @description Which kind of error: OpenAI's words. */
            type: string;
        };
        /** @description Something that was said. */
        ChatMessage: {
            content?: components["schemas"]["Content"] | null;
            /** @description By whom. */
            role: components["schemas"]["Role"];
        };
        /** @description Asks an agent. */
        ChatRequest: {
            /**
             * @description Baton's own: the session that the agent is logged in with, by its id, a unique prefix or its name.
             *     The agent holds it until it has answered.
             */
            browser_session_id?: string | null;
            /** @description Baton's own: whether the agent gets a copy of that session, and nothing is written back. */
            browser_session_shared?: boolean;
            /** @description Baton's own: whether that session is taken also from whoever drives it. */
            browser_session_take?: boolean;
            /** @description What was said so far, the oldest first; 1 to 1000. */
            messages: components["schemas"]["ChatMessage"][];
            /** @description Which agent: one of `/v1/models`. */
            model: string;
            /**
             * Format: int32
             * @description How many answers there shall be; only 1.
             */
            n?: number | null;
            /** @description Whether the answer comes in pieces, as server-sent events. */
            stream?: boolean;
            stream_options?: components["schemas"]["StreamOptions"] | null;
            /** @description Tools of the caller; agents have their own, so only none. */
            tools?: Record<string, never>[];
        };
        /** @description An answer. */
        Choice: {
            /** @description Why it ends. */
            finish_reason: components["schemas"]["FinishReason"];
            /**
             * Format: int32
             * @description 0
             */
            index: number;
            /** @description What the agent said. */
            message: components["schemas"]["ChatMessage"];
        };
        /** @description A piece of an answer. */
        ChunkChoice: {
            /** @description What the agent said. */
            delta: components["schemas"]["Delta"];
            finish_reason?: components["schemas"]["FinishReason"] | null;
            /**
             * Format: int32
             * @description 0
             */
            index: number;
        };
        /** @description A client of an OIDC provider such as Entra ID (OAuth 2.0, client credentials). */
        ClientCredential: {
            /** @description The client, as the provider knows it. */
            clientId: string;
            /** @description Its secret. */
            clientSecret: string;
            /** @description The provider, as it names itself: `https://login.microsoftonline.com/TENANT/v2.0`. */
            issuer: string;
            /** @description For whom the token is to be, where the provider asks for that (RFC 8707). */
            resource?: string | null;
            /** @description What is asked for, such as `api://baton/.default`. */
            scope?: string | null;
        };
        /** @description What whoever looks into tabs sends. */
        ClientMessage: {
            /** @enum {string} */
            type: "browser_debug_list_tabs";
        } | (components["schemas"]["GetNetwork"] & {
            /** @enum {string} */
            type: "browser_debug_get_network";
        }) | (components["schemas"]["GetConsole"] & {
            /** @enum {string} */
            type: "browser_debug_get_console";
        }) | {
            /** @enum {string} */
            type: "browser_debug_heartbeat";
        };
        /**
         * @description Who may reach a cocoon.
         * @enum {string}
         */
        CocoonAccess: "loopback" | "key";
        /**
         * @description Which cocoon. It stands in host names and in addresses, so it is one label of a host name: lower-case
         *     letters, digits and hyphens, neither first nor last a hyphen.
         */
        CocoonId: string;
        /** @description The cocoons of an owner. */
        CocoonList: {
            /** @description By id. */
            items: components["schemas"]["CocoonView"][];
        };
        /**
         * @description Which pages of a cocoon get a token, by which they may be looked into. What is left out is as the
         *     node's settings say.
         */
        CocoonPages: {
            /**
             * @description The media types that count as pages.
             * @default null
             */
            content_types?: string[] | null;
            /**
             * @description Whether any do.
             * @default null
             */
            enabled?: boolean | null;
            /**
             * @description Paths that get none, with what is below them.
             * @default null
             */
            exclude_paths?: string[] | null;
            /**
             * Format: int32
             * @description How much of a body is kept, in bytes.
             * @default null
             */
            response_body_max_size?: number | null;
            /**
             * @description Whether navigations are guessed where a browser does not mark them: scripts of a page can then
             *     read its token.
             * @default null
             */
            without_fetch_metadata?: boolean | null;
        };
        /** @description Opens a cocoon in a browser, once. */
        CocoonTicket: {
            /**
             * Format: date-time
             * @description Until when it counts.
             */
            expires_at: string;
            /**
             * Format: uri
             * @description The address to open.
             */
            url: string;
        };
        /** @description A service behind the proxy. */
        CocoonView: {
            /** @description Who may reach it. */
            access: components["schemas"]["CocoonAccess"];
            /** @description Which of its pages may be looked into. */
            browser_debug: components["schemas"]["CocoonPages"];
            /** @description Which one. */
            id: components["schemas"]["CocoonId"];
            /** @description Whether the settings of the node name it, rather than the API. */
            in_settings: boolean;
            /** @description What people call it. */
            name: string;
            /** @description To whom it belongs. */
            owner: string;
            /**
             * Format: uri
             * @description Where it answers.
             */
            upstream: string;
            /** @description Where its pages are; nowhere while the node has no proxy. */
            urls: string[];
        };
        /**
         * @description Which colours a person prefers.
         * @enum {string}
         */
        ColorScheme: "light" | "dark";
        /** @description A command: a line for the shell, or a program and what it is given, word by word. */
        CommandLine: string | string[];
        /**
         * @description The rules under which a browser runs. Whoever speaks CDP to a browser has what the browser has.
         * @enum {string}
         */
        Confinement: "landlock" | "bubblewrap" | "off";
        /** @description Confirms a peer that is pending. */
        ConfirmPeer: {
            /** @description What a person has compared with what the other node shows. */
            fingerprint: components["schemas"]["Fingerprint"];
        };
        /** @description A session in which someone has to choose, and how what there is to choose from differs. */
        ConflictDetails: components["schemas"]["ConflictView"] & {
            /** @description For each of the siblings, in their order, how it differs from what counts now. */
            differences: components["schemas"]["RevisionDifference"][];
        };
        /** @description The owner's sessions in which someone has to choose. */
        ConflictList: {
            /** @description By name. */
            items: components["schemas"]["ConflictView"][];
        };
        /** @description A session in which someone has to choose. */
        ConflictView: {
            /** @description What counts now. */
            current: components["schemas"]["RevisionView"];
            /** @description What it is called here. */
            name: components["schemas"]["SessionName"];
            /** @description Which session. */
            sessionId: components["schemas"]["SessionId"];
            /** @description What is kept beside it, the latest first. */
            siblings: components["schemas"]["RevisionView"][];
        };
        /** @description A paired browser is about to connect. */
        ConnectBrowser: {
            /** @description Which browser. */
            browser_id: string;
        };
        /** @description The console of a tab. */
        ConsoleData: {
            /**
             * Format: int64
             * @description Give this as `after` to get what comes from now on.
             */
            cursor?: number;
            /** @description As they were written: the newest last. */
            entries: components["schemas"]["ConsoleEntry"][];
            /** @description What is missing. */
            gaps?: components["schemas"]["Gap"][];
            /**
             * Format: int64
             * @description Give this as `before` to get older ones; left out when there are none.
             */
            older?: number | null;
            /** @description The question's; left out over HTTP. */
            request_id?: string;
        };
        /** @description A line of a tab's console. */
        ConsoleEntry: {
            /** @description What was given to the console. */
            args?: unknown[];
            /**
             * Format: int32
             * @description Where in the line, from 1 on.
             */
            column?: number | null;
            /** @description The address of the frame it belongs to; left out for the page itself. */
            frame?: string | null;
            /** @description How loud it is. */
            level: components["schemas"]["ConsoleLevel"];
            /**
             * Format: int32
             * @description Where in the script, from 1 on.
             */
            line?: number | null;
            /** @description The same as one text; may be cut. */
            message: string;
            /**
             * Format: int64
             * @description The tab's sequence number of the line, from 1 on: a short id, for good.
             */
            seq?: number;
            /** @description The script that wrote it. */
            source?: string | null;
            /** @description How it came there, for errors. */
            stack_trace?: string | null;
            /** @description When it was written. */
            timestamp: components["schemas"]["EpochMs"];
            /** @description Whether `message` or `args` were cut. */
            truncated?: boolean;
            /** @description The script of the worker it belongs to; left out when it is no worker's. */
            worker?: string | null;
        };
        /** @description Something was written to the console. */
        ConsoleEvent: {
            /** @description The line. */
            entry: components["schemas"]["ConsoleEntry"];
            /**
             * Format: int64
             * @description Which event of the tab it is, in the sender's count from 1 on, network included.
             */
            seq?: number | null;
            /** @description In which tab. */
            token: components["schemas"]["TabToken"];
        };
        /** @description Which lines of a console. What is left out does not count. */
        ConsoleFilters: {
            /**
             * Format: int64
             * @description Only what came after this `cursor` of another answer.
             * @default null
             */
            after?: number | null;
            /**
             * Format: int64
             * @description Only those older than this line: the `older` of another answer.
             * @default null
             */
            before?: number | null;
            /**
             * Format: int64
             * @description One line, by its sequence number.
             * @default null
             */
            id?: number | null;
            /**
             * @description One of these levels; all when empty.
             * @default []
             */
            level?: components["schemas"]["ConsoleLevel"][];
            /**
             * Format: int32
             * @description How many at most, from 1 on, 500 when left out: the newest. Together with `after` the next ones.
             * @default null
             */
            limit?: number | null;
            /**
             * @description A regular expression that the message must match somewhere.
             * @default null
             */
            message_pattern?: string | null;
            /** @default null */
            since?: components["schemas"]["EpochMs"] | null;
        };
        /**
         * @description How loud a line is.
         * @enum {string}
         */
        ConsoleLevel: "log" | "debug" | "info" | "warn" | "error";
        /** @description What is said: a text, or parts of one. */
        Content: string | components["schemas"]["ContentPart"][];
        /** @description A part of what is said. */
        ContentPart: {
            /** @description The text. */
            text?: string | null;
            /** @description What it is; agents read only `text`. */
            type: string;
        };
        /** @description How much a state holds. */
        Contents: {
            /** @description Cookies. */
            cookies: number;
            /** @description IndexedDB databases. */
            databases: number;
            /** @description Storage keys with localStorage. */
            local_storage: number;
            /** @description Pairs of tab and storage key with sessionStorage. */
            session_storage: number;
            /** @description Tabs. */
            tabs: number;
        };
        /** @description The contexts that clients made in a session's browser. */
        ContextList: {
            /** @description All of them, by their ids. */
            items: components["schemas"]["ContextView"][];
        };
        /**
         * @description A context that a client made in a session's browser (an incognito window, what Playwright's
         *     `browser.newContext()` gives). It is not kept, unless that is asked for.
         */
        ContextView: {
            /** @description The browser's own name for it. */
            id: string;
            /** @description Its tabs. */
            tabs: components["schemas"]["Tab"][];
        };
        /** @description Invites another node to become a peer. */
        CreateInvitation: {
            /**
             * @description Where the other machine asks this one, such as `https://home.example.org:7421`, in the place of the
             *     addresses that this node finds itself; 8 at most.
             */
            addresses?: string[];
            /**
             * @description Listen for peers there from now on, in TLS, also after a restart; `0.0.0.0:7421` is every address of the
             *     machine. Left out, nothing changes: then the node must be reachable already.
             */
            listen?: string | null;
        };
        /** @description Makes a key. */
        CreateKey: {
            for_node?: components["schemas"]["Fingerprint"] | null;
            /** @description What people call it: 1 to 64 characters, unique among the owner's keys that are not revoked. */
            name: string;
            owner?: components["schemas"]["Owner"] | null;
            /** @description What it allows; at least one. */
            scopes: components["schemas"]["Scope"][];
        };
        /** @description Makes a sandbox. */
        CreateSandbox: {
            browserSession?: components["schemas"]["BrowserSession"] | null;
            /**
             * @description Domains that the task needs a login for, each with what is below it. One that the session has no
             *     living login for is an error.
             */
            domains?: string[];
            /**
             * @description Whether it has a display, which a VNC viewer on the node's machine shows: for a browser with a
             *     window. The answer says where, and with which password.
             */
            enableVnc?: boolean;
            /** @description Variables of every command in it. They are no place for secrets: whatever runs there reads them. */
            env?: {
                [key: string]: string;
            };
            /** @description What is in it, by a name of the node's settings; `agent-ready` when left out. */
            flavor?: string | null;
            /** @description Less than the node's settings allow. */
            limits?: components["schemas"]["WantedLimits"];
            /**
             * Format: int32
             * @description Seconds until it ends by itself; as the node's settings say when left out.
             */
            ttl?: number | null;
        };
        /** @description An ask that was made: the link is told this once. */
        CreatedAsk: components["schemas"]["AskView"] & {
            /**
             * Format: uri
             * @description What the person opens. Behind `#` is a secret that counts once: no server and no log sees it there.
             */
            link: string;
            /** @description Where it can be opened. */
            opens: components["schemas"]["AskReach"];
            /** @description Whom the settings of the node name, and whether they were told. */
            told?: components["schemas"]["ToldPerson"][];
        };
        /** @description An invitation, this once with its text. */
        CreatedInvitation: {
            /** @description Where the other machine is to ask this one. */
            addresses: string[];
            /** @description The text that the other node is given, `BATON-…`. It is a secret, and counts once. */
            code: string;
            /**
             * Format: date-time
             * @description Until when it counts.
             */
            expiresAt: string;
            /** @description What it is called: `inv_` and 16 hexadecimal digits. */
            id: string;
            /** @description Whether the text says which key the certificate there has; otherwise it is checked as others are. */
            pinned: boolean;
        };
        /** @description A key just made, with its secret: the only time that it is shown. */
        CreatedKey: components["schemas"]["KeyView"] & {
            /** @description What goes behind `Authorization: Bearer`. The node keeps only a hash of it. */
            secret: string;
        };
        /** @description A message could not be done. */
        DebugError: {
            /** @description Why, in a word that programs may rely on. */
            code: components["schemas"]["DebugErrorCode"];
            /** @description Why, for people. */
            message: string;
            /** @description What a browser offered, when that was refused. */
            offered?: string | null;
            /** @description The question's, when there was one. */
            request_id?: string | null;
            token?: components["schemas"]["TabToken"] | null;
        };
        /**
         * @description Why a message could not be done.
         * @enum {string}
         */
        DebugErrorCode: "tab_gone" | "browser_offline" | "timeout" | "invalid_message" | "invalid_filter" | "untrusted" | "too_many_tabs" | "not_revealed";
        /**
         * @description Who saw it.
         * @enum {string}
         */
        DebugSource: "webRequest" | "debugger" | "session";
        /** @description A tab whose network and console can be asked for. */
        DebugTab: {
            /** @description In which browser. */
            browser_id: string;
            /** @description The cocoon, or the session, that it belongs to. */
            cocoon_id: string;
            /** @description What people call that. */
            cocoon_name?: string | null;
            /** @description Its browser is not connected: what it told before is here, and nothing comes until it is back. */
            offline?: boolean;
            /** @description Its secrets are kept beside it, for those with the scope `reveal` who ask for them. */
            revealed?: boolean;
            /** @description The page's title; empty when it has none. */
            title: string;
            /** @description Which one: give it back to ask. */
            token: components["schemas"]["TabToken"];
            /** @description The address that it shows. */
            url: string;
        };
        /** @description The tabs of the caller's cocoons and sessions, as a list like any other. */
        DebugTabs: {
            /** @description Newest first, node by node. */
            items: components["schemas"]["DebugTab"][];
            /** @description The nodes of the cluster that did not answer, by their names: tabs of theirs are missing. */
            missing?: string[];
        };
        /** @description What an agent said since the last piece. */
        Delta: {
            /** @description What. */
            content?: string | null;
            role?: components["schemas"]["Role"] | null;
        };
        /** @description What changed from one state to another. */
        Diff: {
            /** @description How many items are new. */
            added: number;
            /** @description How many items are not what they were. */
            changed: number;
            /** @description One line per item, sorted by kind and place. What stayed as it was has none. */
            items: components["schemas"]["DiffItem"][];
            /** @description How many items are gone. */
            removed: number;
        };
        /** @description One item that is not what it was. */
        DiffItem: {
            /** @description What became of it. */
            change: components["schemas"]["Change"];
            /** @description The name of an entry of web storage, or the path of a file. */
            entry?: string | null;
            /** @description Which fields of a cookie, a tab or a service worker are not what they were. */
            fields?: string[];
            /** @description What it is. */
            kind: components["schemas"]["ItemKind"];
            records?: components["schemas"]["Records"] | null;
            /** @description The registrable site that it belongs to; none for what belongs to no site, such as settings. */
            site?: string | null;
            /**
             * @description Where it lives: a cookie's [place](crate::Cookie::place), a storage key, a database, an
             *     address without its secrets, a setting. Never a value.
             */
            where: string;
        };
        /** @description What differs between two snapshots, without a value of either. */
        DiffView: components["schemas"]["Diff"] & {
            /** @description The snapshot before. */
            a: components["schemas"]["SnapshotView"];
            /** @description The snapshot after. */
            b: components["schemas"]["SnapshotView"];
            /** @description Parts of either that could not be read, and why: they count as not there. */
            unreadable?: string[];
        };
        /**
         * @description How a session stands here and at a peer.
         * @enum {string}
         */
        Difference: "same" | "ahead" | "behind" | "diverged";
        /** @description How all sessions stand here and at a peer. */
        DifferenceList: {
            /** @description The sessions, those that differ first. */
            items: components["schemas"]["SessionDifference"][];
            /** @description What people call it. */
            name: string;
            /** @description The peer. */
            nodeId: components["schemas"]["NodeId"];
        };
        /**
         * @description Which way a message went.
         * @enum {string}
         */
        Direction: "sent" | "received";
        /** @description The sync directory of a node, as it was found last. */
        DirectoryView: {
            /**
             * @description What kept the node from reading or writing it when it tried last.
             * @default null
             */
            failed?: string | null;
            /**
             * @description Where it is; none when the node keeps none, or not for the caller.
             * @default null
             */
            path?: string | null;
            /**
             * @description Files that are left aside, at most 256 of them.
             * @default []
             */
            refused?: components["schemas"]["RefusedFile"][];
            /**
             * @description How many files of sessions are in step with the database.
             * @default 0
             */
            sessions?: number;
        };
        /** @description Where the display of a sandbox is shown through the node, once. */
        DisplayAccess: {
            /**
             * Format: uri
             * @description The address of a WebSocket that speaks RFB, with a ticket that counts once. The display asks for no password
             *     there.
             */
            displayUrl: string;
            /**
             * Format: date-time
             * @description Until when the ticket counts.
             */
            expiresAt: string;
        };
        /** @description Brings what a node runs to other nodes. */
        DrainNode: {
            /**
             * @description Whether it is begun although the other nodes have no room for all of it: what finds none stays.
             * @default false
             */
            partly?: boolean;
        };
        /** @description A browser session that an agent drives. */
        DrivenSession: {
            /** @description The agent. */
            agent: components["schemas"]["AgentName"];
            /** @description Its id. */
            id: components["schemas"]["SessionId"];
            /** @description Its name. */
            session: components["schemas"]["SessionName"];
            /**
             * Format: date-time
             * @description Since when.
             */
            since: string;
        };
        /** @description Who drives which browser session, by name. */
        DrivenSessions: {
            /** @description One for each session that an agent drives. */
            items: components["schemas"]["DrivenSession"][];
        };
        /** @description Who drives a session. */
        DriverView: {
            /** @description The agent. */
            agent: components["schemas"]["AgentName"];
            /**
             * Format: int64
             * @description The fencing number: it counts up whenever the session passes on.
             */
            fence: number;
            /** @description Why it was taken from another agent; left out when it was not. */
            reason?: string;
            /**
             * Format: date-time
             * @description Since when.
             */
            since: string;
        };
        /**
         * @description A way out to the network: everything that a browser asks for goes through a proxy of its session, which
         *     reaches what it may and nothing else. HTTP/3, WebTransport and WebRTC over UDP do not exist behind it.
         */
        Egress: {
            /** @default null */
            credentials?: components["schemas"]["ProxyCredentials"] | null;
            /**
             * @description The hosts that it reaches, and no others: `example.org`, `*.example.org` (all below it), `10.0.0.0/8`,
             *     `localhost`, each perhaps with a port, `example.org:8443`. A private address is reached where it is
             *     listed itself, whatever name leads there. Empty: all hosts. At most 200.
             * @default []
             */
            only?: string[];
            /**
             * @description The proxy through which it reaches them, without credentials: `http://proxy.example:3128`,
             *     `https://…` or `socks5://…`; `system` for what the machine of each node says, in `HTTP_PROXY`,
             *     `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`.
             * @default null
             */
            proxy?: string | null;
        };
        /** @description What a browser asked of one host. */
        EgressHost: {
            /**
             * Format: int64
             * @description How many connections, or requests without TLS, reached it.
             */
            connections: number;
            /**
             * Format: int64
             * @description How many might go there and did not come through.
             */
            failed: number;
            /** @description The host and its port; left out of those that are counted together, because there are too many. */
            host?: string | null;
            /**
             * Format: int64
             * @description Bytes from the host.
             */
            received: number;
            /**
             * Format: int64
             * @description How many were refused.
             */
            refused: number;
            /**
             * Format: int64
             * @description Bytes to the host.
             */
            sent: number;
            /** @description Why the last one was refused or failed. */
            why?: string | null;
        };
        /** @description The way out of a session's browser, and what that asked for since it started. */
        EgressView: {
            /**
             * @description What was asked for, by host; empty while no browser runs here. What the browser asked for by itself is
             *     among it.
             */
            hosts?: components["schemas"]["EgressHost"][];
            /**
             * @description Whether hosts of the node's machine and its network are among them only where the settings of the node
             *     list them: so it is for every owner but `local`.
             */
            internet_only?: boolean;
            /** @description The hosts that it reaches, and no others; empty: all. */
            only?: string[];
            /** @description The proxy through which it reaches them. */
            proxy?: string | null;
            /** @description The sites where the session may be signed in and of which none of these hosts is. */
            shut_out?: string[];
        };
        /** @description A guest is done, or cannot do it. */
        EndAsk: {
            /** @description Whether it is done. */
            done: boolean;
        };
        /** @description A sandbox that has ended. */
        EndedSandbox: {
            browserSession?: components["schemas"]["WrittenBack"] | null;
            /** @description Which one. */
            id: components["schemas"]["SandboxId"];
        };
        /**
         * @description Whether the limits of memory, processes and processors hold.
         * @enum {string}
         */
        Enforcement: "enforced" | "not enforced";
        /**
         * @description What a session was opened with, and what was decided about the wishes of sites since; a field left
         *     out is the browser's own.
         */
        Environment: {
            /** @default null */
            browser?: components["schemas"]["BrowserName"] | null;
            /**
             * @description Whom the browser trusts beside those that its maker does: authorities of one's own, and servers
             *     that signed their certificates themselves. Each is one certificate in PEM; at most 20.
             * @default []
             */
            certificates?: components["schemas"]["Certificate"][];
            /** @default null */
            egress?: components["schemas"]["Egress"] | null;
            /** @default null */
            geolocation?: components["schemas"]["Geolocation"] | null;
            /** @default null */
            identity?: components["schemas"]["Identity"] | null;
            /**
             * @description A BCP 47 tag such as `ja-JP`.
             * @default null
             */
            locale?: string | null;
            /**
             * @description What sites may do and may not; about all else they ask.
             * @default []
             */
            permissions?: components["schemas"]["Permission"][];
            /**
             * @description An IANA time zone such as `Asia/Tokyo`.
             * @default null
             */
            timezone?: string | null;
            /**
             * @description The `User-Agent` header and `navigator.userAgent`. One of another version or system of Chrome,
             *     Chromium or Edge brings the `identity` of that; a session is not opened with one of any other browser.
             * @default null
             */
            userAgent?: string | null;
            /** @default null */
            viewport?: components["schemas"]["Viewport"] | null;
        };
        /**
         * Format: int64
         * @description Milliseconds since 1970 (UTC). Fractions, which some clocks of browsers give, are rounded.
         */
        EpochMs: number;
        /**
         * @description Why a request failed: stable words that programs may rely on.
         * @enum {string}
         */
        ErrorCode: "invalid_json" | "unauthenticated" | "forbidden" | "not_confined" | "quota_reached" | "untrusted" | "address_not_allowed" | "foreign_origin" | "session_not_found" | "no_snapshot" | "peer_not_found" | "invitation_not_found" | "file_not_found" | "ask_not_found" | "not_shared" | "not_on_board" | "tab_gone" | "key_not_found" | "cocoon_not_found" | "sandbox_not_found" | "model_not_found" | "node_not_found" | "route_not_found" | "method_not_allowed" | "body_too_slow" | "name_taken" | "ambiguous_reference" | "wrong_state" | "profile_in_use" | "peer_pending" | "pending_there" | "not_reachable" | "other_agent" | "session_held" | "session_expired" | "login_missing" | "conflict" | "other_revision" | "body_too_large" | "unsupported_media_type" | "misdirected" | "invalid_request" | "invalid_session" | "unknown_flavor" | "revision_refused" | "too_many_requests" | "internal" | "storage_damaged" | "cdp_unreachable" | "peer_denied" | "peer_refused" | "peer_unreachable" | "session_service_failed" | "agent_failed" | "upstream_failed" | "browser_unavailable" | "provider_unavailable" | "browser_offline" | "sandbox_unavailable" | "vnc_unavailable" | "node_unreachable" | "no_room" | "storage_unavailable" | "timed_out" | "storage_full";
        /** @description The extension gives the code back. */
        ExchangePairing: {
            /** @description Which browser: the same as long as the extension is installed. 1 to 36 letters, digits and hyphens. */
            browser_id: string;
            /** @description As the person typed it; letters of either case, with or without the hyphen. */
            code: string;
        };
        /** @description How a command ended. */
        ExecEnd: {
            /**
             * Format: int32
             * @description By itself, with this code.
             */
            code: number;
        } | {
            /**
             * Format: int32
             * @description By this signal.
             */
            signal: number;
        } | "timedOut" | "gone";
        /**
         * @description One line of the answer: what a command wrote since the last one, or how it ended. Bytes that are no
         *     UTF-8 are replaced.
         */
        ExecEvent: {
            /** @description On its standard output. */
            stdout: string;
        } | {
            /** @description On its standard error. */
            stderr: string;
        } | {
            /** @description It has ended; always the last line. */
            exit: components["schemas"]["ExecEnd"];
        };
        /** @description Runs a command. */
        ExecSandbox: {
            /** @description What runs. */
            command: components["schemas"]["CommandLine"];
            /** @description In which folder; the workspace when left out. */
            directory?: string | null;
            /** @description Variables, beside those of the sandbox. */
            env?: {
                [key: string]: string;
            };
            /** @description What it reads. */
            input?: string | null;
            /**
             * Format: int32
             * @description Seconds after which it is ended; until the sandbox ends when left out.
             */
            timeout?: number | null;
        };
        /**
         * @description In which form a session leaves.
         * @enum {string}
         */
        ExportFormat: "storage-state" | "session";
        /** @description A session as a file. */
        ExportView: {
            /** @description The file. Whoever has it is logged in. */
            file: Record<string, never>;
            /** @description The form of the file. */
            format: components["schemas"]["ExportFormat"];
            /** @description How much the snapshot holds. */
            holds: components["schemas"]["Contents"];
            /** @description Which session. */
            id: components["schemas"]["SessionId"];
            /** @description Its name. */
            name: components["schemas"]["SessionName"];
            /**
             * @description What the file does not say: `not_portable` is what the format has no word for, `rejected`
             *     what it has a word for and could not take.
             */
            receipt: components["schemas"]["Receipt"];
            /** @description The snapshot that the file holds. */
            snapshot: components["schemas"]["SnapshotId"];
            /**
             * Format: date-time
             * @description When the browser was read.
             */
            taken_at: string;
        };
        /** @description A request failed. */
        Failed: {
            /**
             * Format: int64
             * @description From the request until now.
             */
            duration_ms?: number | null;
            /** @description The browser's word, such as `net::ERR_CONNECTION_REFUSED`. */
            error: string;
            /** @description The browser's id of the request. */
            request_id: string;
            /** @description When. */
            timestamp: components["schemas"]["EpochMs"];
        };
        /** @description What became of a change. It is on disk. */
        FederationChange: {
            /** @description The name under which the session was archived, if it was. */
            archived?: string | null;
            /** @description The task that was meant, as it is now. */
            task?: Record<string, never> | null;
        };
        /** @description The board at an instant. */
        FederationView: {
            /**
             * @description What is in `active-session.json`, and what follows from it: `gone` are the agents that were not
             *     seen for a while, `waiting` says for which others a task waits, `lapsed` are the tasks whose
             *     holder is gone. None when no session is active.
             */
            board?: Record<string, never> | null;
            /** @description Who drives which browser session, by name. */
            sessions: components["schemas"]["DrivenSession"][];
        };
        /** @description A file that came ahead of a session. */
        FileAhead: {
            /**
             * Format: int64
             * @description How many bytes it has.
             */
            bytes: number;
            /** @description Its name. */
            name: string;
        };
        /** @description What people compare to tell nodes apart: the SHA-256 of a key, as 16 groups of four digits. */
        Fingerprint: string;
        /**
         * @description Why an answer ends.
         * @enum {string}
         */
        FinishReason: "stop" | "length";
        /** @description An answer is complete. */
        Finished: {
            /** @description What came, where the browser has it. */
            body?: string | null;
            /** @description Whether `body` is base64. */
            body_base64?: boolean;
            /**
             * Format: int64
             * @description Bytes of the whole body, unpacked.
             */
            body_size?: number | null;
            /** @description Whether `body` was cut. */
            body_truncated?: boolean;
            /**
             * Format: int64
             * @description From the request until now.
             */
            duration_ms?: number | null;
            /** @description What the body is, as its answer said: secrets are looked for accordingly. */
            mime_type?: string | null;
            /** @description The browser's id of the request. */
            request_id: string;
            /** @description When. */
            timestamp: components["schemas"]["EpochMs"];
            /**
             * Format: int64
             * @description Bytes that came over the network.
             */
            transfer_size?: number | null;
        };
        /**
         * @description How many cookies of a state expire how soon. One that ends with the browser has no end of its
         *     own, because a resume brings it back.
         */
        Forecast: {
            /** @description Cookies that a resume at this moment would bring back. */
            cookies: number;
            /** @description Cookies that have expired since the state was captured. */
            expired: number;
            /**
             * Format: date-time
             * @description When the next one expires; none when none of them has an end.
             */
            next?: string | null;
            /** @description Cookies that expire within a day, those within an hour included. */
            within_day: number;
            /** @description Cookies that expire within an hour. */
            within_hour: number;
            /** @description Cookies that expire within seven days, those within a day included. */
            within_week: number;
        };
        /** @description Something is missing here, and how much. */
        Gap: {
            at?: components["schemas"]["EpochMs"] | null;
            /** @description Whether it may be more than `missing`. */
            at_least?: boolean;
            /**
             * Format: int64
             * @description How much is missing: requests or lines that were dropped here, events that a browser dropped.
             *     Left out when nobody knows.
             */
            missing?: number | null;
            /** @description Why. */
            reason: components["schemas"]["GapReason"];
            /**
             * Format: int64
             * @description Its place among the tab's sequence numbers; left out for what is missing before the first.
             */
            seq?: number | null;
        };
        /**
         * @description Why something is missing.
         * @enum {string}
         */
        GapReason: "buffer_full" | "events_lost" | "disconnected" | "first_load" | "restarted";
        /** @description A place on Earth, WGS 84. */
        Geolocation: {
            /**
             * Format: double
             * @description Radius of certainty in metres.
             */
            accuracy?: number;
            /**
             * Format: double
             * @description Degrees north, −90 to 90.
             */
            latitude: number;
            /**
             * Format: double
             * @description Degrees east, −180 to 180.
             */
            longitude: number;
        };
        /** @description Asks for the console of a tab. */
        GetConsole: {
            filters?: components["schemas"]["ConsoleFilters"] | null;
            /** @description Comes back in the answer. */
            request_id: string;
            /** @description Which tab. */
            token: components["schemas"]["TabToken"];
        };
        /** @description Asks for the requests of a tab. */
        GetNetwork: {
            filters?: components["schemas"]["NetworkFilters"] | null;
            /** @description Comes back in the answer. */
            request_id: string;
            /** @description Which tab. */
            token: components["schemas"]["TabToken"];
        };
        /** @description What a guest sees of an ask: who asks for what, and nothing else of the node. */
        GuestView: {
            /**
             * Format: date-time
             * @description Until when.
             */
            expires_at: string;
            /** @description Whether they may give files of their own to the site. */
            files: boolean;
            /** @description Who asks: an agent's name, with its owner unless that is `local`; without an agent the owner. */
            from: string;
            /** @description What the session is called. */
            session: components["schemas"]["SessionName"];
            /** @description What they will see. */
            sites: string[];
            /** @description Where it stands. */
            state: components["schemas"]["AskState"];
            /** @description For what. */
            text: string;
        };
        /** @description A session in a sandbox. */
        HandedIn: {
            /** @description Where it is logged in, as far as cookies tell, and how long they last. */
            logins: components["schemas"]["Login"][];
            /** @description Its name. */
            name?: string | null;
            /** @description How much of it is in the sandbox's profile, and line by line what is not. */
            receipt: components["schemas"]["Receipt"];
            sessionId?: components["schemas"]["SessionId"] | null;
            snapshot?: components["schemas"]["SnapshotId"] | null;
            /** @description How it came. */
            type: components["schemas"]["BrowserSessionType"];
            /** @description Whether the sandbox holds the session, and writes back what changes when it ends. */
            writesBack: boolean;
        };
        /** @description How a session came from the node that held it. */
        HandedView: {
            /** @description How. */
            how: components["schemas"]["Handing"];
            /** @description What it is called here. */
            name: string;
            /** @description The node that held it. */
            node_id: components["schemas"]["NodeId"];
        };
        /**
         * @description How a session came from the node that held it.
         * @enum {string}
         */
        Handing: "handed_over" | "taken_over";
        /** @description The node lives. */
        Health: {
            /** @description Who it is, for a node that registers it. */
            identity: components["schemas"]["NodeIdentity"];
            /** @description Which node it is. */
            node_id: components["schemas"]["NodeId"];
            /** @description Always `ok`. */
            status: string;
            /** @description The version of Baton. */
            version: string;
        };
        /** @description A page of a session's snapshots. */
        History: {
            /** @description Those of the page whose list of parts is damaged, so that they cannot be read. */
            damaged?: components["schemas"]["SnapshotId"][];
            /** @description Newest first. */
            items: components["schemas"]["SnapshotView"][];
            next?: components["schemas"]["SnapshotId"] | null;
            resumes_from?: components["schemas"]["SnapshotId"] | null;
        };
        /** @description The holder of a session. */
        HolderView: {
            /** @description Whether it is the node that was asked. */
            here: boolean;
            /** @description What it is called here; none for one that is no peer, and for this one. */
            name?: string | null;
            /** @description Which node. */
            node_id: components["schemas"]["NodeId"];
            /**
             * Format: date-time
             * @description Since when.
             */
            since: string;
        };
        /** @description Who a browser says that it is, beside its user agent. What is left out is the browser's own. */
        Identity: {
            /** @default null */
            colorScheme?: components["schemas"]["ColorScheme"] | null;
            /**
             * Format: double
             * @description Pixels of the screen in one CSS pixel (`devicePixelRatio`), 0.5 to 5.
             * @default null
             */
            deviceScaleFactor?: number | null;
            /**
             * Format: int32
             * @description How many processors it tells of (`navigator.hardwareConcurrency`), 1 to 128.
             * @default null
             */
            hardwareConcurrency?: number | null;
            /**
             * @description `navigator.languages` and `Accept-Language`, as BCP 47 tags, the preferred one first, which is `locale`
             *     where that is given; at most 10.
             * @default []
             */
            languages?: string[];
            /**
             * Format: int32
             * @description How many fingers its screen tells apart (`navigator.maxTouchPoints`), 0 to 16.
             * @default null
             */
            maxTouchPoints?: number | null;
            /** @default null */
            metadata?: components["schemas"]["UserAgentMetadata"] | null;
            /**
             * @description `navigator.platform`, such as `MacIntel`.
             * @default null
             */
            platform?: string | null;
            /**
             * @description Whether `prefers-reduced-motion` says `reduce`.
             * @default null
             */
            reducedMotion?: boolean | null;
        };
        /** @description A file that becomes a session. */
        ImportSession: {
            /** @description Free text for people, at most 1000 characters; that of the file when left out. */
            description?: string | null;
            /**
             * @description The JSON document itself: a session file, a Playwright `storageState`, a list of cookies. A
             *     `cookies.txt` is a string.
             */
            file: unknown;
            name?: components["schemas"]["SessionName"] | null;
        };
        /** @description A session that was made of a file, or of a context. */
        ImportView: components["schemas"]["SessionView"] & {
            /** @description How much was taken. */
            holds: components["schemas"]["Contents"];
            /** @description What of it was not taken, and why. */
            left_out: components["schemas"]["Receipt"];
        };
        /** @description One session of an index. */
        IndexedSession: {
            /** @description The checksum of its state. */
            checksum: components["schemas"]["PartHash"];
            /** @description The other revisions that wait for someone to choose, sorted; none is the rule. */
            conflicts?: components["schemas"]["RevisionId"][];
            /** @description Whether the session was deleted. */
            deleted?: boolean;
            /** @description Which one: the same at every node. */
            id: components["schemas"]["SessionId"];
            /**
             * Format: date-time
             * @description When the current revision was written.
             */
            lastModified: string;
            lease?: components["schemas"]["Lease"] | null;
            /** @description What it is called. */
            name: components["schemas"]["SessionName"];
            /** @description The node at which the session was opened first. */
            originNodeId: components["schemas"]["NodeId"];
            /** @description The current revision. */
            rev: components["schemas"]["RevisionId"];
            /**
             * Format: int64
             * @description Bytes of the current revision's parts together.
             */
            size: number;
            /** @description How far each actor (`nodeId#epoch`) had come: all revisions here together. */
            vector: Record<string, never>;
            /**
             * Format: int64
             * @description The number of the current revision: a hint. `rev` and `vector` tell what is newer.
             */
            version: number;
            /**
             * @description The views of which that is told, with how far each actor had come in them; left out when it is told
             *     of the whole session.
             */
            within?: Record<string, never>[];
        };
        /** @description The owner's open invitations. */
        InvitationList: {
            /** @description The oldest first. */
            items: components["schemas"]["InvitationView"][];
            /** @description Where this node listens for peers alone; none when it does not. */
            listens?: string | null;
        };
        /** @description An open invitation. */
        InvitationView: {
            /**
             * Format: date-time
             * @description When it was made.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description Until when it counts.
             */
            expiresAt: string;
            /** @description What it is called. */
            id: string;
        };
        /**
         * @description What an item is.
         * @enum {string}
         */
        ItemKind: "cookie" | "local_storage" | "session_storage" | "indexed_db" | "cache" | "files" | "service_worker" | "tab" | "history" | "environment" | "permission" | "site" | "part" | "snapshot";
        /** @description Takes an invitation of another node. */
        JoinPeer: {
            /** @description The text, `BATON-…`. */
            code: string;
            /** @description What people call the other node here; left out, what it calls itself. */
            name?: string | null;
        };
        /** @description Makes a session of its own of what a context holds now. */
        KeepContext: {
            /** @description The id of the context, or the beginning of one; may be left out when there is only one. */
            context?: string | null;
            /** @description Free text for people, at most 1000 characters. */
            description?: string | null;
            /** @description Unique among the owner's sessions that are not closed. */
            name: components["schemas"]["SessionName"];
        };
        /** @description All keys of an owner. */
        KeyList: {
            /** @description Also the revoked ones. */
            items: components["schemas"]["KeyView"][];
        };
        /** @description A key, without its secret. */
        KeyView: {
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            for_node?: components["schemas"]["Fingerprint"] | null;
            /** @description Which one; not a secret. */
            id: string;
            /** @description What people call it. */
            name: string;
            /** @description Whose sessions it sees. */
            owner: components["schemas"]["Owner"];
            /**
             * Format: date-time
             * @description When it was revoked; none while it is good.
             */
            revoked_at?: string | null;
            /** @description What it allows. */
            scopes: components["schemas"]["Scope"][];
        };
        /**
         * @description Who holds a shared session: the node that runs its browser, or is about to.
         *
         *     Its term counts between nodes only; within one database, the terms of that database count. Each
         *     node tells of its own peer lease and of no other one, so nobody can be robbed of a session by what a
         *     third one says.
         */
        Lease: {
            /** @description The holder. */
            node: components["schemas"]["NodeId"];
            /** @description Whether the holder has given it back, and nobody holds the session. */
            released?: boolean;
            /**
             * Format: date-time
             * @description Since when, by the holder's clock.
             */
            since: string;
            /** @description One more than that of the holder before. */
            term: components["schemas"]["Term"];
        };
        /**
         * @description Where a session stands.
         * @enum {string}
         */
        Lifecycle: "active" | "recoverable" | "stale" | "failed" | "closed";
        /**
         * @description How likely somebody is logged in at a site.
         * @enum {string}
         */
        Likelihood: "over" | "possible" | "likely";
        /** @description An address that shows a session live, once. */
        LiveAccess: {
            /**
             * Format: date-time
             * @description Until when the ticket counts.
             */
            expires_at: string;
            /**
             * Format: uri
             * @description A WebSocket. It carries a ticket, which is a secret.
             */
            live_url: string;
        };
        /** @description A page asks for files. */
        LiveChooser: {
            /** @description Whether it takes more than one. */
            many: boolean;
            /** @description The origin of the document that asks, by the browser: what is chosen goes there. */
            origin: string;
            /**
             * Format: int64
             * @description Names it, for the answer.
             */
            question: number;
            /** @description The origin of the page around it, where that is another one. */
            within?: string | null;
        };
        /** @description What a page asks. */
        LiveDialog: {
            /** @description `alert`, `confirm`, `prompt` or `beforeunload`. */
            kind: string;
            /** @description What it says: to be shown as text and nothing else. */
            message: string;
            /**
             * Format: int64
             * @description Names it, for the answer.
             */
            question: number;
            /** @description What a `prompt` suggests. */
            suggests: string;
        };
        /** @description Who drives. */
        LiveDriver: {
            agent?: components["schemas"]["AgentName"] | null;
            /** @description Whether it is this viewer. */
            own: boolean;
        };
        /** @description A finger. */
        LiveFinger: {
            /**
             * Format: int32
             * @description Its number.
             */
            id: number;
            /**
             * Format: double
             * @description From the left of the viewport, in CSS pixels.
             */
            x: number;
            /**
             * Format: double
             * @description From the top.
             */
            y: number;
        };
        /** @description A key. */
        LiveKey: {
            /** @description Whether it is held and comes again. */
            again?: boolean;
            /** @description Where it is (`KeyboardEvent.code`). */
            code?: string;
            /** @description Whether it went down. */
            down: boolean;
            /** @description What it means (`KeyboardEvent.key`). */
            key: string;
            /**
             * Format: int32
             * @description Which of several (`KeyboardEvent.location`).
             */
            location?: number;
            /**
             * Format: int32
             * @description Keys that are down: Alt 1, Ctrl 2, Meta 4, Shift 8.
             */
            modifiers?: number;
            /**
             * Format: int32
             * @description Its number of old (`KeyboardEvent.keyCode`).
             */
            number?: number;
            /**
             * Format: int32
             * @description Which tab.
             */
            tab: number;
        };
        /** @description What a node tells a viewer. */
        LiveMessage: (components["schemas"]["LiveTabs"] & {
            /** @enum {string} */
            type: "tabs";
        }) | (components["schemas"]["LiveDriver"] & {
            /** @enum {string} */
            type: "driver";
        }) | (components["schemas"]["LivePace"] & {
            /** @enum {string} */
            type: "pace";
        }) | (components["schemas"]["LiveRefusal"] & {
            /** @enum {string} */
            type: "refused";
        }) | {
            /** @enum {string} */
            type: "gone";
        };
        /** @description A mouse. */
        LiveMouse: {
            /**
             * Format: int32
             * @description Which button (`MouseEvent.button`): 0 left, 1 middle, 2 right.
             */
            button?: number;
            /**
             * Format: int32
             * @description How often it was clicked in a row (`MouseEvent.detail`).
             */
            clicks?: number;
            /** @description What it did. */
            kind: components["schemas"]["MouseKind"];
            /**
             * Format: int32
             * @description Keys that are down: Alt 1, Ctrl 2, Meta 4, Shift 8.
             */
            modifiers?: number;
            /**
             * Format: int32
             * @description Which tab.
             */
            tab: number;
            /**
             * Format: double
             * @description From the left of the viewport, in CSS pixels.
             */
            x: number;
            /**
             * Format: double
             * @description From the top.
             */
            y: number;
        };
        /** @description How many pictures went to a viewer. */
        LivePace: {
            /**
             * Format: int64
             * @description How many were left out, because the viewer had one that it had not drawn.
             */
            dropped: number;
            /**
             * Format: int32
             * @description The quality of their JPEG, 0 to 100, which follows what the viewer's line takes.
             */
            quality: number;
            /**
             * Format: int64
             * @description How many were sent.
             */
            sent: number;
        };
        /** @description What a site wishes for. It is refused after a minute. */
        LivePermission: {
            /**
             * @description What it wishes for, in the names of the Permissions API: `camera`, `clipboard-read`, `geolocation`,
             *     `microphone`, `midi`, `midi-sysex` or `notifications`.
             */
            names: string[];
            /** @description The origin of the document that asks, by the browser. */
            origin: string;
            /**
             * Format: int64
             * @description Names it, for the answer.
             */
            question: number;
            /** @description The origin of the page around it, where that is another one. */
            within?: string | null;
        };
        /** @description Something was not done. */
        LiveRefusal: {
            /** @description Why not, and what to do. */
            detail: string;
            /** @description The `type` of the message that was not done. */
            what: string;
        };
        /** @description A tab. */
        LiveTab: {
            chooser?: components["schemas"]["LiveChooser"] | null;
            /** @description Whether its page crashed. */
            crashed?: boolean;
            dialog?: components["schemas"]["LiveDialog"] | null;
            /**
             * Format: int32
             * @description Names it for as long as its browser is watched.
             */
            number: number;
            permission?: components["schemas"]["LivePermission"] | null;
            /** @description Its title, as its page calls itself: to be shown as text and nothing else. */
            title: string;
            /** @description Its address, without user and password: the scope `watch` shows pages as they are. Empty for a guest. */
            url: components["schemas"]["ShownAddress"];
        };
        /** @description What the browser has open. */
        LiveTabs: {
            /** @description For a guest, where the one tab is, when that is not part of what was asked: no picture of it comes. */
            away?: string | null;
            /**
             * Format: int64
             * @description How many pictures of the browser were none, since it is watched.
             */
            bad_pictures: number;
            /**
             * Format: int32
             * @description The number of the tab in front, which is shown; none where none is drawn.
             */
            front?: number | null;
            /** @description Its tabs, oldest first. */
            tabs: components["schemas"]["LiveTab"][];
        };
        /** @description Fingers on a screen. */
        LiveTouch: {
            /** @description Those that are down now. */
            fingers: components["schemas"]["LiveFinger"][];
            /** @description What they did. */
            kind: components["schemas"]["TouchKind"];
            /**
             * Format: int32
             * @description Keys that are down: Alt 1, Ctrl 2, Meta 4, Shift 8.
             */
            modifiers?: number;
            /**
             * Format: int32
             * @description Which tab.
             */
            tab: number;
        };
        /** @description A wheel. */
        LiveWheel: {
            /**
             * Format: double
             * @description How far down.
             */
            down: number;
            /**
             * Format: int32
             * @description Keys that are down: Alt 1, Ctrl 2, Meta 4, Shift 8.
             */
            modifiers?: number;
            /**
             * Format: double
             * @description How far to the right, in CSS pixels.
             */
            right: number;
            /**
             * Format: int32
             * @description Which tab.
             */
            tab: number;
            /**
             * Format: double
             * @description From the left of the viewport, in CSS pixels.
             */
            x: number;
            /**
             * Format: double
             * @description From the top.
             */
            y: number;
        };
        /** @description A site where somebody may be logged in, as far as cookies, localStorage and databases tell. */
        Login: {
            /** @description Where to begin: an origin, without a path. */
            address?: string;
            /** @description The site: a registrable domain. */
            domain: string;
            /** @description How long the cookies of the site last. */
            forecast: components["schemas"]["Forecast"];
            /**
             * @description How likely that is: `likely` where something looks like a login, `possible` where something may be one,
             *     `over` where it has expired. What only measures visitors, or notes a taste, is no login.
             */
            likelihood?: components["schemas"]["Likelihood"];
            sign_in?: components["schemas"]["SeenSignIn"] | null;
            /** @description Whether localStorage or a database holds something that may be a login. */
            stored?: boolean;
        };
        /** @description Where a session may be logged in. */
        LoginList: {
            /** @description The likeliest first. */
            items: components["schemas"]["Login"][];
            snapshot?: components["schemas"]["SnapshotId"] | null;
        };
        /** @description A guest's page asks what a link is for. That changes nothing. */
        LookAtAsk: {
            /** @description What stands behind `#/asked/` in the link. */
            secret: string;
        };
        /** @description An agent that may be asked. */
        Model: {
            /**
             * Format: int64
             * @description 0: agents have no date.
             */
            created: number;
            /** @description Its name. */
            id: string;
            /** @description `model` */
            object: string;
            /** @description `baton` */
            owned_by: string;
        };
        /** @description The agents that may be asked. */
        ModelList: {
            /** @description By their names. */
            data: components["schemas"]["Model"][];
            /** @description `list` */
            object: string;
        };
        /**
         * @description What a mouse did.
         * @enum {string}
         */
        MouseKind: "move" | "down" | "up";
        /** @description A session that was brought to another node. */
        MovedSession: {
            /** @description Which session. */
            id: components["schemas"]["SessionId"];
            /** @description Its name. */
            name: components["schemas"]["SessionName"];
            /**
             * Format: int64
             * @description For how long it could not be driven, in milliseconds.
             */
            pause_ms: number;
            /** @description The name of the node that has it now. */
            to: string;
        };
        /** @description What one pull or push of a session did. */
        Movement: {
            /**
             * Format: int64
             * @description Bytes that went over the network for it, both ways, bodies only.
             */
            bytes: number;
            /** @description Revisions at the receiver that wait for someone to choose. */
            conflicts?: components["schemas"]["RevisionId"][];
            /**
             * Format: int64
             * @description Parts that are left to move: call again, and it goes on where it stopped.
             */
            left?: number;
            /** @description What it is called here. */
            name: components["schemas"]["SessionName"];
            /** @description The peer. */
            nodeId: components["schemas"]["NodeId"];
            /** @description What came of it. */
            outcome: components["schemas"]["MovementOutcome"];
            /**
             * Format: int64
             * @description Parts that moved.
             */
            parts: number;
            rev?: components["schemas"]["RevisionId"] | null;
            /** @description Which session. */
            sessionId: components["schemas"]["SessionId"];
        };
        /**
         * @description What came of a pull or a push.
         * @enum {string}
         */
        MovementOutcome: "unchanged" | "moved" | "conflict" | "deleted" | "unfinished";
        /** @description What happened to a request. */
        NetworkChange: {
            /** @description It was sent. Once more with the same id: it was redirected. */
            data: components["schemas"]["Requested"];
            /** @enum {string} */
            event: "request";
        } | {
            /** @description The answer began. */
            data: components["schemas"]["Answered"];
            /** @enum {string} */
            event: "response";
        } | {
            /** @description The answer is complete. */
            data: components["schemas"]["Finished"];
            /** @enum {string} */
            event: "finished";
        } | {
            /** @description It failed. */
            data: components["schemas"]["Failed"];
            /** @enum {string} */
            event: "failed";
        } | {
            /** @description A message went over its WebSocket. */
            data: components["schemas"]["SocketEvent"];
            /** @enum {string} */
            event: "message";
        };
        /** @description The requests of a tab. */
        NetworkData: {
            /**
             * Format: int64
             * @description Give this as `after` to get what is new or changes from now on.
             */
            cursor?: number;
            /** @description What is missing. */
            gaps?: components["schemas"]["Gap"][];
            /** @description All hosts that the browser of the tab's session asked for since it started. Not after a cursor. */
            hosts?: components["schemas"]["EgressHost"][];
            /**
             * @description The hosts that the way out of the tab's session refused or did not get through to, of all its tabs, since
             *     its browser started. Not after a cursor.
             */
            not_reached?: components["schemas"]["EgressHost"][];
            /**
             * Format: int64
             * @description Give this as `before` to get older ones; left out when there are none.
             */
            older?: number | null;
            /** @description The question's; left out over HTTP. */
            request_id?: string;
            /** @description As they happened: the newest last. After a cursor as they changed. */
            requests: components["schemas"]["NetworkRequest"][];
        };
        /** @description Something happened to a request. */
        NetworkEvent: components["schemas"]["NetworkChange"] & {
            /**
             * Format: int64
             * @description Which event of the tab it is, in the sender's count from 1 on, console included. What is sent
             *     again is known by it, and what was lost.
             */
            seq?: number | null;
            /** @description Who saw it; left out, the debugger. */
            source?: components["schemas"]["DebugSource"];
            /** @description In which tab. */
            token: components["schemas"]["TabToken"];
        };
        /** @description Which requests of a tab. What is left out does not count. */
        NetworkFilters: {
            /**
             * Format: int64
             * @description Only what is new, or has changed, after this `cursor` of another answer.
             * @default null
             */
            after?: number | null;
            /**
             * Format: int64
             * @description Only those older than the request of this number: the `older` of another answer.
             * @default null
             */
            before?: number | null;
            /**
             * @description Whether bodies, and what went over a WebSocket, come along.
             * @default false
             */
            bodies?: boolean;
            /**
             * @description One request, by its number or by its `request_id`.
             * @default null
             */
            id?: string | null;
            /**
             * Format: int32
             * @description How many at most, from 1 on, 500 when left out: the newest. Together with `after` the next ones.
             * @default null
             */
            limit?: number | null;
            /**
             * @description One of these methods, in any case; all when empty.
             * @default []
             */
            method?: string[];
            /** @default null */
            since?: components["schemas"]["EpochMs"] | null;
            /**
             * Format: int32
             * @description At most this status. What has none yet does not fit.
             * @default null
             */
            status_max?: number | null;
            /**
             * Format: int32
             * @description At least this status. What has none yet does not fit.
             * @default null
             */
            status_min?: number | null;
            /**
             * @description A regular expression that the URL must match somewhere.
             * @default null
             */
            url_pattern?: string | null;
        };
        /** @description A request of a tab, with what is known of its answer. Each hop of a redirect is one of its own. */
        NetworkRequest: {
            /**
             * Format: int64
             * @description From the request until its end.
             */
            duration_ms?: number | null;
            /** @description Whether it came to its end, by an answer, a failure or a redirect. */
            ended?: boolean;
            /** @description Why it failed, if it did. */
            error?: string | null;
            /** @description The address of the frame it belongs to; left out for the page itself. */
            frame?: string | null;
            /** @description Whether the answer came from a cache. */
            from_cache?: boolean;
            /**
             * Format: int32
             * @description How many redirects came before it.
             */
            hop?: number;
            /** @description What went over the WebSocket, the newest of it. */
            messages?: components["schemas"]["SocketMessage"][];
            /**
             * Format: int32
             * @description How many older messages are no longer kept.
             */
            messages_dropped?: number;
            /** @description Such as `GET`; `?` when its beginning was missed. */
            method: string;
            /** @description What came, in a word such as `text/html`. */
            mime_type?: string | null;
            /**
             * Format: int64
             * @description Which of the tab's requests it is, from 1 on: a short id, for good.
             */
            number?: number;
            /** @description Whether its beginning was missed. */
            partial?: boolean;
            /** @description What was sent; may be cut. */
            request_body?: string | null;
            /** @description Whether `request_body` was cut. */
            request_body_truncated?: boolean;
            request_headers?: components["schemas"]["BTreeMap"] | null;
            /** @description The browser's id; the hops of a redirect share it. */
            request_id: string;
            resource_type?: components["schemas"]["ResourceType"] | null;
            /** @description What came; may be cut. */
            response_body?: string | null;
            /** @description Whether `response_body` is base64. */
            response_body_base64?: boolean;
            /**
             * Format: int64
             * @description Bytes of the whole body, unpacked.
             */
            response_body_size?: number | null;
            /** @description Whether `response_body` was cut. */
            response_body_truncated?: boolean;
            response_headers?: components["schemas"]["BTreeMap"] | null;
            /**
             * Format: int64
             * @description The tab's sequence number of its last change.
             */
            seq?: number;
            /** @description Who saw it. */
            source?: components["schemas"]["DebugSource"][];
            /**
             * Format: int32
             * @description The status of the answer.
             */
            status?: number | null;
            /** @description Such as `OK`. */
            status_text?: string | null;
            /** @description When it was sent. */
            timestamp: components["schemas"]["EpochMs"];
            /**
             * Format: int64
             * @description Bytes that came over the network, headers included.
             */
            transfer_size?: number | null;
            /** @description Where it went. */
            url: string;
            /** @description The script of the worker it belongs to; left out when it is no worker's. */
            worker?: string | null;
        };
        /**
         * @description The bus by which the nodes of a cluster tell each other at once that something changed. Counts are since the
         *     start of the node.
         */
        NodeBus: {
            /** @description How many it did not believe, by why not. */
            dropped: {
                [key: string]: number;
            };
            /** @description Why it is not connected, once that is known. */
            found?: string | null;
            /**
             * Format: int64
             * @description How often messages of another node were missing.
             */
            gaps: number;
            /**
             * Format: int64
             * @description How many of other nodes it heard and believed.
             */
            heard: number;
            /** @description Whether what the node says there comes back to it. */
            is_connected: boolean;
            /**
             * Format: int64
             * @description How many messages it sent.
             */
            sent: number;
        };
        /**
         * @description What a node says of itself. Whoever receives one checks that the id is the hash of the key, and
         *     that the key signed the seal key; the rest is as good as the signature of the message around it.
         */
        NodeCard: {
            /**
             * Format: uri
             * @description Where its own network asks it.
             */
            internalUrl?: string | null;
            /** @description Its public key (Ed25519), with which what it wrote is verified. */
            key: components["schemas"]["NodeKey"];
            /** @description What it calls itself: 1 to 64 characters. */
            name: string;
            /** @description Which node: the hash of its key. */
            nodeId: components["schemas"]["NodeId"];
            /** @description How it is deployed. */
            nodeType: components["schemas"]["NodeType"];
            /**
             * Format: uri
             * @description Where the world asks it; none when the world does not.
             */
            publicUrl?: string | null;
            /** @description For whom what it alone may read is sealed: a recipient of age (X25519), `age1…`. */
            sealKey: string;
            /** @description Its signature of the seal key. */
            sealSignature: components["schemas"]["NodeSignature"];
        };
        /** @description How far a node is with bringing what it runs to other nodes. */
        NodeDrain: {
            /** @description Whether it is at its end: nothing more will move. */
            is_done: boolean;
            /**
             * Format: int64
             * @description How many sessions are still to move.
             */
            left: number;
            /** @description Those that run elsewhere by now, at most the last 1,000. */
            moved: components["schemas"]["MovedSession"][];
            /**
             * Format: int64
             * @description How many sandboxes are here, which end where they are.
             */
            sandboxes: number;
            /** @description Those that did not move, and why; at most the first 1,000. They run here as before, unless it is said. */
            stayed: components["schemas"]["StayedSession"][];
        };
        /**
         * Format: uuid
         * @description Which node. Its bits are of the hash of the node's key, see `NodeKey::node_id`; ids that
         *     were made before nodes had keys are version 7.
         */
        NodeId: string;
        /**
         * @description Who a node is, and nothing else of it: what it says to strangers. Whoever receives it checks that
         *     the id is the hash of the key, and that the key signed the seal key.
         */
        NodeIdentity: {
            /** @description Its public key (Ed25519). */
            key: components["schemas"]["NodeKey"];
            /** @description Which node: the hash of its key. */
            nodeId: components["schemas"]["NodeId"];
            /** @description How it is deployed. */
            nodeType: components["schemas"]["NodeType"];
            /** @description For whom what it alone may read is sealed: `age1…`. */
            sealKey: string;
            /** @description Its signature of the seal key. */
            sealSignature: components["schemas"]["NodeSignature"];
        };
        /** @description The public key of a node; in text 43 characters, the base64url of its 32 bytes. */
        NodeKey: string;
        /**
         * @description A word for what a node has or is for, such as `gpu` or `region=eu`: 1 to 32 of the characters
         *     `A-Z a-z 0-9 . _ = -`.
         */
        NodeLabel: string;
        /** @description The nodes that are one. */
        NodeList: {
            /** @description What the cluster is called; none where the node is of no cluster. */
            cluster?: string | null;
            /** @description The nodes that entered and did not leave, by name. */
            items: components["schemas"]["NodeView"][];
        };
        /** @description A signature of a node; in text 86 characters, the base64url of its 64 bytes. */
        NodeSignature: string;
        /**
         * @description How a node is deployed.
         * @enum {string}
         */
        NodeType: "cloud" | "hosted";
        /** @description A node of a cluster. Instants are by the clock of the database. */
        NodeView: {
            /**
             * Format: int64
             * @description How many browsers it runs.
             */
            browsers: number;
            bus?: components["schemas"]["NodeBus"] | null;
            /**
             * Format: int64
             * @description How far its own clock is ahead of that of the database, in milliseconds; negative when it is behind.
             */
            clock_ahead_ms: number;
            drain?: components["schemas"]["NodeDrain"] | null;
            /** @description Where the other nodes ask it. */
            internal_url: string;
            /** @description Whether its sessions go to other nodes, and it takes no new ones. */
            is_draining?: boolean;
            /** @description Whether it was there within its lease: what it holds is asked of it, and of no other. */
            is_there: boolean;
            /** @description Whether it is the node that answers. */
            is_this: boolean;
            /** @description Its public key (Ed25519), with which what it passes on is verified. */
            key: components["schemas"]["NodeKey"];
            /** @description What it is for: sessions that ask for a label go to nodes that have it. */
            labels?: components["schemas"]["NodeLabel"][];
            /** @description What people call it. */
            name: string;
            /** @description Which node: the hash of its key. */
            node_id: components["schemas"]["NodeId"];
            /**
             * Format: int64
             * @description How many more it takes, by what its settings and its memory allow; none where nobody counts them.
             */
            places?: number | null;
            /**
             * Format: int64
             * @description How many more it makes, by what its settings and its memory allow; none where nobody counts them.
             */
            sandbox_places?: number | null;
            /**
             * Format: int64
             * @description How many sandboxes it has.
             */
            sandboxes?: number;
            /**
             * Format: date-time
             * @description When it was last there.
             */
            seen_at: string;
            /**
             * Format: date-time
             * @description When it started.
             */
            started_at: string;
            /** @description Which version of Baton it runs. */
            version: string;
        };
        /** @description A peer that a session did not reach. */
        NotPushed: {
            /** @description What people call it. */
            peer: string;
            /** @description Why. */
            reason: string;
        };
        /**
         * @description Asks for an address that opens a session's browser by itself, for tools that take an address and
         *     no headers.
         */
        OpenCdp: {
            /** @description Whether it opens more than once, for a tool that connects again after a resume. */
            reusable?: boolean;
        };
        /** @description Opens a session in a browser of its own. */
        OpenSession: {
            /** @description Whether what its tabs do, network and console, is recorded, from the first byte on. */
            debug?: boolean;
            /** @description Free text for people, at most 1000 characters. */
            description?: string | null;
            /** @description What pages see of the world; a field left out is the browser's own. */
            environment?: components["schemas"]["Environment"];
            /**
             * @description Folders of the node's machine that its browser sees, on this node, for as long as the session
             *     is there. For the owner `local` alone, and a key with the scope `admin`: such a folder may hold
             *     anything.
             */
            files?: components["schemas"]["SharedFolder"][];
            /** @description Whether the browser shows a window. */
            headed?: boolean;
            /** @description What its node has to be for, in a cluster: at most 16 labels, now and wherever it goes later. */
            labels?: components["schemas"]["NodeLabel"][];
            /** @description Unique among the owner's sessions that are not closed. */
            name: components["schemas"]["SessionName"];
            /**
             * @description Whether their secrets are kept too, in memory, for keys with the scope `reveal`: as long as its
             *     first browser runs. Needs that scope, and `debug`.
             */
            reveal?: boolean;
            /**
             * @description A tab for each of these `http`, `https` or `about` addresses, the first one in front; at
             *     most 50. None: one blank tab.
             */
            urls?: string[];
        };
        /** @description An ask that was opened in this browser. The other half of what opens it comes as a cookie beside it. */
        OpenedAsk: components["schemas"]["GuestView"] & {
            /** @description What goes with each request, in the header `Baton-Guest`; none where it was declined. */
            value?: string | null;
        };
        /**
         * @description What became of an item.
         * @enum {string}
         */
        Outcome: "restored" | "rejected" | "not_portable" | "pending";
        /** @description Names besides those that are known anyway: `[debug] redact`, at most 1,000 of each. */
        OwnNames: {
            /** @description Names whose values are none, unless they are known keys. */
            allow: string[];
            /** @description Names whose values are secrets. */
            names: string[];
        };
        /** @description The user to whom sessions belong: 1 to 128 visible ASCII characters. */
        Owner: string;
        /** @description Where a browser goes so that a person signs in there. */
        PageDeparture: {
            /**
             * Format: date-time
             * @description Until when.
             */
            expires_at: string;
            /**
             * Format: uri
             * @description The provider's address, with what comes back from there once, to the browser that has the cookie beside it.
             */
            url: string;
        };
        /** @description A provider at which people sign in. */
        PageProvider: {
            /** @description What people call it. */
            name: string;
        };
        /** @description A page that is signed in. The other half of what opens the node comes as a cookie beside it. */
        PageSession: components["schemas"]["PageView"] & {
            /** @description What goes with each request, in the header `Baton-Page`. */
            value: string;
        };
        /** @description The page gives a code back. */
        PageSignIn: {
            /** @description A code that counts once. Left out, the request shows an API key. */
            code?: string | null;
        };
        /** @description An address that opens the page once. */
        PageTicket: {
            /**
             * Format: date-time
             * @description Until when the code counts.
             */
            expires_at: string;
            /**
             * Format: uri
             * @description The page's address, with a code behind `#` that counts once: no server and no log sees it there.
             */
            url: string;
        };
        /** @description As whom a page asks. */
        PageView: {
            /**
             * Format: date-time
             * @description When the page has to sign in again.
             */
            ends_at: string;
            /** @description What the key behind it is called; revoking that ends the page. */
            key: string;
            /** @description Which node it is. */
            node_id: components["schemas"]["NodeId"];
            /** @description What people call the node. */
            node_name: string;
            /** @description Whose sessions it sees. */
            owner: components["schemas"]["Owner"];
            /** @description What it may do. */
            scopes: components["schemas"]["Scope"][];
            /** @description The node's version of Baton. */
            version: string;
        };
        /** @description How people sign in to a page. */
        PageWays: {
            oidc?: components["schemas"]["PageProvider"] | null;
        };
        /** @description A browser that is paired. */
        PairedBrowser: {
            /** @description Its key, with the scope `browser`: it may tell of tabs, and nothing else. */
            key: string;
            /**
             * Format: uri
             * @description Where it tells.
             */
            signaling_url: string;
        };
        /** @description What a person types into the extension. */
        PairingCode: {
            /**
             * Format: uri
             * @description The node's address.
             */
            address: string;
            /** @description Counts once, such as `K7QM-2XPD`; at a node of a cluster `K7QM-2XPD-4T`. */
            code: string;
            /**
             * Format: date-time
             * @description Until when the code counts.
             */
            expires_at: string;
        };
        /** @description SHA-256 of a part's bytes: its name on the wire. */
        PartHash: string;
        /** @description Passes a session to another agent. */
        PassSession: {
            /** @description Why, 1 to 1000 characters. Whoever does not drive the session has to say it. */
            reason?: string | null;
            to?: components["schemas"]["AgentName"] | null;
        };
        /** @description How much of sessions goes to a peer and is taken from it. */
        PeerLimits: {
            /**
             * @description What goes to it.
             * @default {}
             */
            give?: components["schemas"]["View"];
            /**
             * @description What is taken from it.
             * @default {}
             */
            take?: components["schemas"]["View"];
        };
        /** @description This node, and its peers. */
        PeerList: {
            /** @description The fingerprint that a person at a peer compares. */
            fingerprint: components["schemas"]["Fingerprint"];
            /** @description The owner's peers, by name. */
            items: components["schemas"]["PeerView"][];
            /** @description This node. */
            self: components["schemas"]["NodeCard"];
        };
        /** @description How it stands with one peer. */
        PeerStanding: {
            /** @description The sessions that differ, by name; none when nobody knows: it was not asked, or did not answer yet. */
            items?: components["schemas"]["SessionDifference"][] | null;
            /** @description The peer. */
            peer: components["schemas"]["PeerView"];
            problem?: components["schemas"]["Problem"] | null;
        };
        /**
         * @description Whether a peer is trusted.
         * @enum {string}
         */
        PeerState: "pending" | "confirmed";
        /**
         * @description Whether a peer answers.
         * @enum {string}
         */
        PeerStatus: "online" | "offline" | "unknown";
        /** @description A peer, without what opens it. */
        PeerView: {
            /** @description How this node says there who it acts for. */
            authMethod: components["schemas"]["AuthMethod"];
            /**
             * @description What a person types at the peer, which has said that this node is pending there: nothing moves before
             *     it is confirmed. Left out where the peer has not said so.
             */
            confirmThere?: string | null;
            /** @description What a person compares. */
            fingerprint: components["schemas"]["Fingerprint"];
            /**
             * @description Whether this node has what its method needs, such as an API key of it. Without that nothing is
             *     asked of it; one that only asks us needs none.
             */
            hasKey: boolean;
            /**
             * Format: date-time
             * @description When it was heard last.
             */
            lastSeen?: string | null;
            /**
             * Format: date-time
             * @description When a session moved last, or was found to need none.
             */
            lastSync?: string | null;
            /** @description How much of sessions goes to it and is taken from it; left out where that is everything. */
            limits?: components["schemas"]["PeerLimits"];
            /** @description What people call it. */
            name: string;
            /** @description Which node. */
            nodeId: components["schemas"]["NodeId"];
            /** @description How it is deployed. */
            nodeType: components["schemas"]["NodeType"];
            /** @description Why it does not, when it does not. */
            reason?: string | null;
            /** @description Whether a person has confirmed who it is. */
            state: components["schemas"]["PeerState"];
            /** @description Whether it answers. */
            status: components["schemas"]["PeerStatus"];
            /**
             * Format: uri
             * @description Where it is asked; none for a node that only asks us.
             */
            url?: string | null;
        };
        /** @description What was decided about one wish of one site. */
        Permission: {
            /**
             * Format: int64
             * @description When it was decided, in microseconds since 1970; left out when only a page told of it.
             */
            changed?: number | null;
            /** @description What the site wished for: `notifications`, `geolocation`, `camera` and so on. */
            name: string;
            /** @description The `http` or `https` origin of the site, such as `https://app.test:8443`. */
            origin: string;
            /** @description What was decided. */
            setting: components["schemas"]["Setting"];
        };
        /** @description Why a request failed. */
        Problem: {
            /** @description A stable word that programs may rely on. */
            code: components["schemas"]["ErrorCode"];
            /** @description What was expected and what was found. Never a secret. */
            detail: string;
            /** @description What to do about it. */
            hint?: string | null;
            /** @description The request's id, as in the node's log. */
            request_id?: string | null;
            /**
             * Format: int32
             * @description The HTTP status.
             */
            status: number;
            /** @description What the code means, in a few words. */
            title: string;
            /** @description `urn:baton:problem:` and the code. */
            type: string;
        };
        /**
         * @description What a proxy wants to know of who comes. It is a secret, as the value of a cookie is, and no output of the
         *     type shows the password.
         */
        ProxyCredentials: {
            /** @description The password: 1 to 255 bytes. */
            password: string;
            /** @description The user: 1 to 255 bytes without a colon. */
            user: string;
        };
        /** @description Names a service that the proxy shall stand in front of, or says something else of it. */
        PutCocoon: {
            /** @description Who may reach it. */
            access?: components["schemas"]["CocoonAccess"];
            /** @description Which of its pages may be looked into. */
            browser_debug?: components["schemas"]["CocoonPages"];
            /** @description What people call it; its id when left out. */
            name?: string | null;
            /** @description To whom it belongs; to the caller when left out. */
            owner?: string | null;
            /** @description Where it answers: `http`, a host and a port, without a path or a user. */
            upstream: string;
        };
        /** @description What became of an agent's sandbox. */
        Ran: {
            browser_session?: components["schemas"]["WrittenBack"] | null;
            /** @description In which one it ran. */
            sandbox_id: components["schemas"]["SandboxId"];
            /** @description What its caller should know. */
            warnings?: string[];
        };
        /** @description The node can work: its database answers. */
        Ready: {
            /** @description Always `ready`; a node that is not answers with a problem. */
            status: string;
        };
        /** @description What a restore did. */
        Receipt: {
            /** @description One line per item. */
            items: components["schemas"]["ReceiptItem"][];
            /** @description How many no tool can carry here. */
            not_portable: number;
            /** @description How many wait for the page that needs them. */
            pending: number;
            /** @description How many the browser refused. */
            rejected: number;
            /** @description How many items came back. */
            restored: number;
        };
        /** @description One item of a receipt. */
        ReceiptItem: {
            /** @description What it is. */
            kind: components["schemas"]["ItemKind"];
            /** @description What became of it. */
            outcome: components["schemas"]["Outcome"];
            /** @description Why, when there is more to say than that it came back. */
            reason?: string | null;
            /** @description Which side it came from. */
            source: components["schemas"]["Source"];
            /** @description How we know. */
            verified: components["schemas"]["Verified"];
            /**
             * @description Where it lives: a cookie's [place](crate::Cookie::place), a storage key, a database, an address.
             *     Never a value.
             */
            where: string;
        };
        /** @description The records of a database, in all of its stores, or the entries of a cache. */
        Records: {
            /** @description In the second state. */
            after: number;
            /** @description In the first state. */
            before: number;
        };
        /** @description A guest presses the button of a link. */
        RedeemAsk: {
            /** @description Whether they decline, which opens nothing. */
            decline?: boolean;
            /** @description Their name, as the agent and the log get to know it; left out, `guest`. */
            name?: string | null;
            /** @description What stands behind `#/asked/` in the link. */
            secret: string;
        };
        /** @description The answer that redirected a request. */
        Redirected: {
            headers?: components["schemas"]["BTreeMap"] | null;
            /**
             * Format: int32
             * @description Its status.
             */
            status: number;
            /** @description Such as `Found`. */
            status_text?: string | null;
        };
        /** @description A file that was not taken. */
        RefusedFile: {
            /** @description Its name among the sessions. */
            file: string;
            /** @description Why. */
            reason: string;
            /**
             * Format: date-time
             * @description When it was looked at.
             */
            since: string;
        };
        /** @description Registers a node, which is asked who it is. It is `pending` until its fingerprint is confirmed. */
        RegisterPeer: {
            /**
             * @description The API key that the other node gave out, with the scope `sync`: for the method `apikey`, and
             *     for `tunnel` unless `oidc` is there. Without what its method needs nothing moves until the same
             *     node is registered again, with that.
             */
            apiKey?: string | null;
            /** @description How this node says there who it acts for. */
            authMethod: components["schemas"]["AuthMethod"];
            fingerprint?: components["schemas"]["Fingerprint"] | null;
            limits?: components["schemas"]["PeerLimits"] | null;
            /** @description What people call it: 1 to 64 characters, unique among the owner's peers. */
            name: string;
            oidc?: components["schemas"]["ClientCredential"] | null;
            /**
             * @description What gets requests through the dev tunnel that leads to the other node: for the method
             *     `tunnel`. It proves nothing there.
             */
            tunnelToken?: string | null;
            /**
             * Format: uri
             * @description Where it is asked, such as `https://baton.example.org`.
             */
            url: string;
        };
        /** @description What the relay sends. */
        RelayMessage: (components["schemas"]["TabAccepted"] & {
            /** @enum {string} */
            type: "browser_debug_tab_accepted";
        }) | (components["schemas"]["TabList"] & {
            /** @enum {string} */
            type: "browser_debug_tabs";
        }) | (components["schemas"]["NetworkData"] & {
            /** @enum {string} */
            type: "browser_debug_network_data";
        }) | (components["schemas"]["ConsoleData"] & {
            /** @enum {string} */
            type: "browser_debug_console_data";
        }) | (components["schemas"]["DebugError"] & {
            /** @enum {string} */
            type: "browser_debug_error";
        }) | {
            /** @enum {string} */
            type: "browser_debug_heartbeat";
        };
        /** @description A request was sent. */
        Requested: {
            /** @description What was sent. */
            body?: string | null;
            /** @description Whether `body` was cut. */
            body_truncated?: boolean;
            /** @description The address of the frame it belongs to; left out for the page itself. */
            frame?: string | null;
            headers?: components["schemas"]["BTreeMap"] | null;
            /** @description Such as `GET`. */
            method: string;
            redirect_response?: components["schemas"]["Redirected"] | null;
            /** @description The browser's id. */
            request_id: string;
            resource_type?: components["schemas"]["ResourceType"] | null;
            /** @description When. */
            timestamp: components["schemas"]["EpochMs"];
            /** @description Where to. */
            url: string;
            /** @description The script of the worker it belongs to. */
            worker?: string | null;
        };
        /** @description Ends the conflicts of a session. */
        ResolveConflict: {
            /** @description The revision that counts from now on: its name, or a unique beginning of it. */
            keep: string;
        };
        /**
         * @description What a request is for.
         * @enum {string}
         */
        ResourceType: "document" | "stylesheet" | "image" | "media" | "font" | "script" | "xhr" | "fetch" | "eventsource" | "websocket" | "manifest" | "ping" | "preflight" | "other";
        /** @description What a resume did. */
        ResumeResult: components["schemas"]["SessionView"] & {
            handed?: components["schemas"]["HandedView"] | null;
            /** @description Milliseconds of each step. */
            timing: {
                [key: string]: number;
            };
        };
        /** @description How a sibling differs from the revision that counts, without a value of either. */
        RevisionDifference: {
            /** @description Which sibling. */
            rev: components["schemas"]["RevisionId"];
            /**
             * @description By site and kind: what is `added` has only the sibling, what is `removed` only the revision
             *     that counts. Empty when one of the two deletes the session.
             */
            sites: components["schemas"]["SiteDiff"][];
            /** @description Why the two could not be compared. */
            unreadable?: string | null;
        };
        RevisionId: string;
        /** @description A revision, without what it holds. */
        RevisionView: {
            /** @description The checksum of its state. */
            checksum: components["schemas"]["PartHash"];
            /** @description Whether it deletes the session. */
            deleted?: boolean;
            /**
             * Format: date-time
             * @description When, by that node's clock.
             */
            lastModified: string;
            /** @description The node that wrote it. */
            nodeId: components["schemas"]["NodeId"];
            /** @description Which one. */
            rev: components["schemas"]["RevisionId"];
            /**
             * Format: int64
             * @description Bytes of its parts together.
             */
            size: number;
        };
        /**
         * @description Who says something.
         * @enum {string}
         */
        Role: "system" | "developer" | "user" | "assistant";
        /** @description Where a session is to go back to. */
        RollBack: {
            /** @description A snapshot of the session: an id, or a unique prefix of one. */
            to: string;
        };
        /**
         * Format: uuid
         * @description Which sandbox: a version 7 UUID, so that sandboxes sort by the time they were made.
         */
        SandboxId: string;
        /** @description The sandboxes of an owner. */
        SandboxList: {
            /** @description The oldest first. */
            items: components["schemas"]["SandboxView"][];
            /** @description Nodes of the cluster that did not answer: what they have is not in it. */
            missing?: string[];
        };
        /** @description A sandbox that is there. */
        SandboxView: {
            /** @description What it may use. */
            allowed: components["schemas"]["WrittenLimits"];
            browserSession?: components["schemas"]["HandedIn"] | null;
            /**
             * Format: date-time
             * @description Since when it is there.
             */
            createdAt: string;
            egress?: components["schemas"]["EgressView"] | null;
            /**
             * Format: date-time
             * @description When it ends by itself.
             */
            expiresAt: string;
            /** @description What is in it. */
            flavor: string;
            /** @description Which one. */
            id: components["schemas"]["SandboxId"];
            /** @description Whether this machine enforces the limits. */
            limits: components["schemas"]["Enforcement"];
            /** @description Why not. */
            limitsReason?: string | null;
            /** @description To whom it belongs. */
            owner: string;
            vnc?: components["schemas"]["Vnc"] | null;
            /** @description What its maker should know. */
            warnings?: string[];
            /** @description Where its own files are, as its commands know it. */
            workspace: string;
        };
        /** @description Saves a session as it is now. */
        SaveSession: {
            /**
             * @description Free text for people, at most 1000 characters; as before when left out.
             * @default null
             */
            description?: string | null;
            /** @default null */
            name?: components["schemas"]["SessionName"] | null;
            /**
             * @description Whether it goes to every confirmed peer at once.
             * @default false
             */
            syncToPeers?: boolean;
        };
        /** @description A session that was saved. */
        SavedView: {
            /** @description The checksum of its state. */
            checksum: components["schemas"]["PartHash"];
            /** @description Revisions that wait for someone to choose. */
            conflicts?: components["schemas"]["RevisionId"][];
            /** @description Peers to which it did not go, and why. */
            failed?: components["schemas"]["NotPushed"][];
            /** @description Which session. */
            id: components["schemas"]["SessionId"];
            /**
             * @description What is not in it, and why: what of an uploaded file was not taken, or which newer snapshot was left
             *     aside because parts of it are damaged.
             */
            leftOut?: components["schemas"]["Receipt"];
            /** @description What it is called. */
            name: components["schemas"]["SessionName"];
            /** @description What went to peers. */
            pushed?: components["schemas"]["Movement"][];
            /** @description The revision that holds it. */
            rev: components["schemas"]["RevisionId"];
            /** @description The snapshot that holds it. */
            snapshot: components["schemas"]["SnapshotId"];
            /** @description Whether nothing had changed since the revision was made. */
            unchanged: boolean;
            /**
             * Format: int64
             * @description The number in it.
             */
            version: number;
        };
        /**
         * @description What a key allows. No scope includes another.
         * @enum {string}
         */
        Scope: "read" | "drive" | "reveal" | "watch" | "sync" | "sandbox" | "debug" | "browser" | "admin";
        /** @description A session that was sealed for a peer. */
        SealedFile: {
            /** @description The file. Nobody else can open it. */
            file: Record<string, never>;
            /** @description Which session. */
            id: components["schemas"]["SessionId"];
            /** @description Which newer snapshot was left aside, and why. */
            leftOut?: components["schemas"]["Receipt"];
            /** @description What it is called. */
            name: components["schemas"]["SessionName"];
            /** @description For which node. */
            nodeId: components["schemas"]["NodeId"];
            /** @description What people call that. */
            peer: string;
            /** @description The revision that counts in it. */
            rev: components["schemas"]["RevisionId"];
        };
        /** @description A sign-in that was seen: what is new at a site, or another, since a password was entered there. */
        SeenSignIn: {
            /**
             * Format: date-time
             * @description When the first snapshot was taken that has what it changed.
             */
            at: string;
            /** @description What changed, in a sentence. */
            changed: string;
            /** @description The same by kind, with names and never a value. */
            changes: components["schemas"]["SiteDiff"][];
        };
        /** @description One session, here and at a peer. */
        SessionDifference: {
            /** @description Whether it was deleted. */
            deleted?: boolean;
            /** @description How it stands. */
            difference: components["schemas"]["Difference"];
            /** @description Whether this node has it. */
            here: boolean;
            /** @description Whether what it has is a part of the session. */
            inPart?: boolean;
            /**
             * Format: date-time
             * @description When its newest revision was written.
             */
            lastModified: string;
            /** @description What it is called. */
            name: components["schemas"]["SessionName"];
            /** @description Which session. */
            sessionId: components["schemas"]["SessionId"];
            /**
             * Format: int64
             * @description Bytes of the newest revision's parts together.
             */
            size: number;
            /**
             * @description Whether it ran here, and the peer told now that it took it over: what it has here is saved, and its
             *     browser here ends.
             */
            taken?: boolean;
            /** @description Whether the peer has it. */
            there: boolean;
        };
        /** @description A file of a session. */
        SessionFile: {
            /**
             * Format: int64
             * @description Its size.
             */
            bytes: number;
            /**
             * Format: date-time
             * @description When it last changed.
             */
            changed_at: string;
            /** @description Its name; never a path. */
            name: string;
            /** @description Where it is at the node, as the browser knows it: what a tool names to upload it. */
            path: string;
        };
        /** @description The files of a session. */
        SessionFiles: {
            /** @description By their names; at most 1000. */
            items: components["schemas"]["SessionFile"][];
        };
        /**
         * Format: uuid
         * @description Which session: a version 7 UUID, for life.
         */
        SessionId: string;
        /** @description A page of sessions. */
        SessionList: {
            /** @description Newest first. */
            items: components["schemas"]["SessionSummary"][];
            next?: components["schemas"]["SessionId"] | null;
        };
        /** @description A session's name: 1 to 64 letters, digits, `-`, `_` or `.`, and not the look of an id. */
        SessionName: string;
        /** @description One line of a list of sessions. */
        SessionSummary: {
            agent?: components["schemas"]["DriverView"] | null;
            confinement?: components["schemas"]["Confinement"] | null;
            /**
             * Format: date-time
             * @description When it was opened first.
             */
            created_at: string;
            /** @description Whether what its tabs do, network and console, is recorded while its browser runs. */
            debug?: boolean;
            /** @description Free text for people; empty when none was given. */
            description: string;
            /** @description Whether its browser shows a window. */
            headed: boolean;
            /** @description For life. */
            id: components["schemas"]["SessionId"];
            /** @description Unique among the owner's sessions that are not closed. */
            name: components["schemas"]["SessionName"];
            /** @description Whose it is. */
            owner: components["schemas"]["Owner"];
            /** @description Where the session stands. */
            state: components["schemas"]["Lifecycle"];
            /**
             * Format: date-time
             * @description When its row last changed.
             */
            updated_at: string;
        };
        /** @description One session in full. */
        SessionView: components["schemas"]["SessionSummary"] & {
            /**
             * @description Whether its browser is one that others started, to which the node that was asked is attached: such a
             *     one has no way out to the network of its own.
             */
            attached?: boolean;
            /**
             * Format: uri
             * @description Where tools that send a key drive the browser, while it runs on the node that was asked: the
             *     same address after every resume. `POST` there gives one with a ticket, for tools that send
             *     none.
             */
            cdp_url?: string | null;
            /** @description Whom its browser trusts beside its maker's list, by the snapshot that a resume would take. */
            certificates?: components["schemas"]["CertificateView"][];
            egress?: components["schemas"]["EgressView"] | null;
            forecast?: components["schemas"]["Forecast"] | null;
            /**
             * @description How many tabs of the browser are not kept, because they are in contexts of their own
             *     (incognito windows, contexts that a client made).
             */
            foreign_tabs?: number;
            /** @description What sites may do and may not, by the snapshot that a resume would take. */
            permissions?: components["schemas"]["Permission"][];
            receipt?: components["schemas"]["Receipt"] | null;
            sandbox?: components["schemas"]["SandboxId"] | null;
            shared?: components["schemas"]["SharedView"] | null;
            snapshot?: components["schemas"]["SnapshotView"] | null;
            /** @description The browser's tabs while it is active, else those of the latest snapshot. */
            tabs: components["schemas"]["Tab"][];
        };
        /**
         * @description What was decided about a wish.
         * @enum {string}
         */
        Setting: "allow" | "deny";
        /** @description A folder of the machine that a browser sees beside the files of its session. */
        SharedFolder: {
            /** @description Where it is; its whole path. */
            path: string;
            /** @description Whether the browser may write there. */
            writable?: boolean;
        };
        /** @description How a session stands among nodes. */
        SharedView: {
            based_on?: components["schemas"]["RevisionId"] | null;
            /** @description Revisions that wait for someone to choose. */
            conflicts?: components["schemas"]["RevisionId"][];
            /**
             * @description Whether the revision that counts deletes the session: a resume removes it, and a save keeps what
             *     is here.
             */
            deleted?: boolean;
            held_by?: components["schemas"]["HolderView"] | null;
            /** @description The revision that counts. */
            rev: components["schemas"]["RevisionId"];
        };
        /**
         * @description An address as it is shown: without its userinfo, the secrets of its path, the values of its query, and its
         *     fragment. It is read as it was written, by whoever is shown it.
         */
        ShownAddress: string;
        /** @description What changed of one kind at one site. */
        SiteDiff: {
            /** @description How many are new. */
            added: number;
            /** @description How many are not what they were. */
            changed: number;
            /** @description What kind of items. */
            kind: components["schemas"]["ItemKind"];
            /**
             * @description The names of the first of them, at most twenty, each cut to a hundred characters. Never a
             *     value.
             */
            names: string[];
            /** @description How many are gone. */
            removed: number;
            /** @description The registrable site; none for what belongs to no site, such as settings. */
            site?: string | null;
        };
        /**
         * Format: uuid
         * @description Which snapshot: a version 7 UUID, so that snapshots sort by the time they were taken.
         */
        SnapshotId: string;
        /**
         * @description Why a snapshot was taken.
         * @enum {string}
         */
        SnapshotReason: "open" | "navigation" | "input" | "interval" | "request" | "close" | "shutdown" | "rollback" | "import" | "sync" | "sandbox";
        /** @description One snapshot, without what it holds. */
        SnapshotView: {
            /**
             * Format: int64
             * @description Size of all its parts in bytes, before compression and deduplication.
             */
            bytes: number;
            /** @description How many of its parts cannot be read. Only a history looks, and only when it is to. */
            damaged?: number;
            /** @description Which one. */
            id: components["schemas"]["SnapshotId"];
            /** @description How many parts it has. */
            parts: number;
            /** @description Why it was taken. */
            reason: components["schemas"]["SnapshotReason"];
            /** @description Whether it is kept for good. */
            saved?: boolean;
            /**
             * @description Whether more than half of what the last good one held was gone, and nobody asked for it: a
             *     resume passes it over.
             */
            shrunk?: boolean;
            /** @description Whether its writer did not hold the session any more: it stands beside the line of the others. */
            sibling?: boolean;
            /**
             * Format: date-time
             * @description When the browser was read.
             */
            taken_at: string;
            /**
             * @description What did not answer when it was taken, and stands in it as last known; and what it does not hold.
             *     Lists leave it out.
             */
            unread?: components["schemas"]["Unread"][];
        };
        /** @description A message went over a WebSocket. */
        SocketEvent: components["schemas"]["SocketMessage"] & {
            /** @description The browser's id of the request that opened it. */
            request_id: string;
        };
        /** @description One message of a WebSocket. */
        SocketMessage: {
            /** @description Whether it is binary. */
            binary?: boolean;
            /** @description Which way it went. */
            direction: components["schemas"]["Direction"];
            /** @description What it says; base64 when it is binary. May be cut. */
            payload: string;
            /** @description Whether the payload was cut. */
            payload_truncated?: boolean;
            /**
             * Format: int64
             * @description Bytes of the whole payload.
             */
            size?: number | null;
            /** @description When it was seen. */
            timestamp: components["schemas"]["EpochMs"];
        };
        /**
         * @description Which side an item came from.
         * @enum {string}
         */
        Source: "snapshot" | "disk";
        /**
         * @description A kind of what a browser keeps.
         * @enum {string}
         */
        StateKind: "cookies" | "local-storage" | "databases" | "caches" | "files" | "service-workers" | "tabs" | "environment";
        /** @description What a snapshot holds. */
        StateView: {
            /** @description Whether secret values were replaced by markers. */
            redacted: boolean;
            /** @description Which snapshot it is of. */
            snapshot: components["schemas"]["SnapshotId"];
            /** @description Cookies, origins, tabs and environment. */
            state: Record<string, never>;
            /**
             * Format: date-time
             * @description When the browser was read.
             */
            taken_at: string;
            /** @description Parts that could not be read, and why; the rest of the state is whole. */
            unreadable?: string[];
        };
        /** @description A session that was not brought to another node. */
        StayedSession: {
            /** @description Which session. */
            id: components["schemas"]["SessionId"];
            /** @description Its name. */
            name: components["schemas"]["SessionName"];
            /** @description Why. */
            why: string;
        };
        /** @description How an answer comes in pieces. */
        StreamOptions: {
            /** @description Whether the last piece tells the tokens. */
            include_usage?: boolean;
        };
        /** @description Switches on or off whether what a session's tabs do is recorded. */
        SwitchDebug: {
            /** @description Whether it is recorded from now on. What was recorded is forgotten when it is not. */
            on: boolean;
            /**
             * @description Whether secrets of its tabs are kept too, in memory, for keys with the scope `reveal`: from now on,
             *     as long as its browser runs. Those that were kept are forgotten when it is not. Needs that scope.
             */
            reveal?: boolean;
        };
        /** @description Every session of the caller's owner that was saved. */
        SyncIndex: {
            /**
             * Format: date-time
             * @description When the last of them changed; none when there are none.
             */
            lastUpdated?: string | null;
            /** @description Whose index it is. */
            nodeId: components["schemas"]["NodeId"];
            /** @description The sessions, by id. Those that were deleted are among them until every peer knows. */
            sessions: components["schemas"]["IndexedSession"][];
        };
        /** @description How sync stands for an owner: an event `sync` of `GET /sync/events`. */
        SyncStanding: {
            /** @description The sessions in which someone has to choose, by name. */
            conflicts: components["schemas"]["ConflictView"][];
            /** @description The peers, by name. */
            peers: components["schemas"]["PeerStanding"][];
        };
        /** @description One tab, without what it stores. */
        Tab: {
            /** @description Whether it is the one in front. */
            active: boolean;
            /** @description The page's title; empty when it has none. */
            title: string;
            /**
             * @description The address that it shows, without what may be secret in it: userinfo, values of the query, and
             *     fragment. Whole where that was asked for, with the scope `reveal`.
             */
            url: components["schemas"]["ShownAddress"];
        };
        /** @description A tab that a browser offered is taken. */
        TabAccepted: {
            /**
             * Format: int64
             * @description The last event that the relay has of it: what comes after may be sent again.
             */
            last_seq: number;
            /** @description What the browser offered it by. */
            offered: string;
            /**
             * @description With this in the place of what a page brought the same browser offers the tab again, after the
             *     connection was lost. Counts for a day.
             */
            resume?: string;
            /** @description Whether secrets of the tab are kept from now on: only then they may be sent. */
            revealed?: boolean;
            /** @description What it is called from now on, in every event. */
            token: components["schemas"]["TabToken"];
        };
        /** @description A browser offers a tab. */
        TabAvailable: {
            /** @description Which browser: the same as long as the extension is installed. */
            browser_id: string;
            /**
             * Format: int64
             * @description The life of the sender: another one each time it begins to count its events anew.
             */
            epoch?: number | null;
            /** @description The address of its icon. */
            favicon?: string | null;
            /** @description Whether the page had begun to load before anyone looked. */
            first_load?: boolean;
            /**
             * @description Whether the person at the browser wants secrets of the tab to be kept too, for those with the scope
             *     `reveal` who ask for them. A tab that was accepted is offered again to change it.
             */
            reveal?: boolean;
            /** @description The page's title; empty when it has none. */
            title: string;
            /**
             * @description What the page's header brought, which counts once; or, after the connection was lost, the token
             *     that the tab got for it.
             */
            token: string;
            /** @description The address that it shows. */
            url: string;
        };
        /** @description A tab was closed, or left its origins. */
        TabClosed: {
            /** @description Which one. */
            token: components["schemas"]["TabToken"];
        };
        /** @description The tabs of the caller's cocoons and sessions, as the relay tells them. */
        TabList: {
            /** @description In the order in which they came. */
            tabs: components["schemas"]["DebugTab"][];
        };
        /**
         * @description Which debug tab. Opaque, safe in an address and in a log: it names a tab and opens nothing, for who
         *     asks must own the tab.
         */
        TabToken: string;
        /** @description A tab shows another address, or has another title. */
        TabUpdated: {
            /** @description The page's title; empty when it has none. */
            title: string;
            /** @description Which one. */
            token: components["schemas"]["TabToken"];
            /** @description The address that it shows. */
            url: string;
        };
        /**
         * @description Which sites are taken back.
         * @enum {string}
         */
        TakeBack: "lent" | "all";
        /** @description A session that another node gives. */
        TakeSession: {
            /**
             * @description All its files, which came ahead of it: where one is missing, nothing is taken. Without this, whatever came is.
             * @default null
             */
            files?: components["schemas"]["FileAhead"][] | null;
        };
        /** @description What became of a sync file. */
        TakenFile: {
            /** @description Whether anything in it was new here. */
            changed: boolean;
            /** @description Those that wait for someone to choose. */
            conflicts?: components["schemas"]["RevisionId"][];
            /** @description Which session. */
            id: components["schemas"]["SessionId"];
            name?: components["schemas"]["SessionName"] | null;
            /** @description The node that wrote the file. */
            nodeId: components["schemas"]["NodeId"];
            /** @description What people call that; none when it is this one. */
            peer?: string | null;
            rev?: components["schemas"]["RevisionId"] | null;
        };
        /**
         * Format: int64
         * @description The number of a holder's time with a session. Each new holder gets a higher one, so that what an
         *     earlier holder writes late can be told from what the present one writes.
         */
        Term: number;
        /** @description Whether somebody whom the settings name was told of an ask. */
        ToldPerson: {
            /** @description At which server. */
            at: string;
            /** @description By which setting: `webhook` or `ntfy`. */
            by: string;
            /** @description Why they were not told. */
            failed?: string | null;
        };
        /** @description How a call of a tool ended. */
        ToolEnd: {
            /** @description The same for programs. */
            data: unknown;
            /** @enum {string} */
            end: "done";
            /** @description What a model reads. */
            text: string;
        } | {
            /** @description A stable word. */
            code: string;
            /** @description What was expected, and what was found. */
            detail: string;
            /** @enum {string} */
            end: "failed";
            /** @description What a model does next. */
            next?: string | null;
        } | {
            /** @description What it is about, such as the id of a session: what is agreed to. */
            about: string;
            /** @description The command with which a person does it. */
            command: string;
            /** @enum {string} */
            end: "ask";
            /** @description What they are asked. */
            what: string;
        };
        /** @description What is said of a call: any number of times that it goes on, and then how it ended. */
        ToolEvent: {
            /** @enum {string} */
            event: "doing";
            /** @description On what. */
            text: string;
        } | (components["schemas"]["ToolEnd"] & {
            /** @enum {string} */
            event: "ended";
        });
        /**
         * @description What fingers did.
         * @enum {string}
         */
        TouchKind: "start" | "move" | "end" | "cancel";
        /** @description A place that did not answer in time, or answered with an error. */
        Unread: {
            kind?: components["schemas"]["ItemKind"] | null;
            /** @description Whether it is not in the snapshot at all, or not as it was. All else stands there as last known. */
            lost?: boolean;
            /** @description A tab's address, a storage key, or what of it; without secrets. */
            place: string;
            /** @description Why. */
            reason: string;
        };
        /** @description The tokens of an answer. */
        Usage: {
            /**
             * Format: int64
             * @description Written by it.
             */
            completion_tokens: number;
            /**
             * Format: int64
             * @description Read by the model.
             */
            prompt_tokens: number;
            /**
             * Format: int64
             * @description Both.
             */
            total_tokens: number;
        };
        /** @description What an owner has, and may have. */
        UsageView: {
            /** @description Its sessions that run now, in a browser or in a sandbox. */
            browsers: components["schemas"]["Used"];
            /** @description Whose it is. */
            owner: string;
            /** @description Its sandboxes now. */
            sandboxes: components["schemas"]["Used"];
            /** @description Its sessions, whatever state they are in. */
            sessions: components["schemas"]["Used"];
            /**
             * @description Bytes that are stored of its sessions, sealed. Where there are as many as may be, no session is made; what runs
             *     is captured all the same.
             */
            stored_bytes: components["schemas"]["Used"];
        };
        /** @description How much of something there is, and may be. */
        Used: {
            /**
             * Format: int64
             * @description How much there may be; nothing bounds it where this is left out.
             */
            most?: number | null;
            /**
             * Format: int64
             * @description How much there is.
             */
            used: number;
        };
        /**
         * @description The client hints of a browser (`Sec-CH-UA*` and `navigator.userAgentData`,
         *     <https://wicg.github.io/ua-client-hints/>), as `Emulation.UserAgentMetadata` of the DevTools protocol has
         *     them.
         */
        UserAgentMetadata: {
            /**
             * @description The family of its processor: `x86` or `arm`.
             * @default
             */
            architecture?: string;
            /**
             * @description How wide that is: `64` or `32`.
             * @default
             */
            bitness?: string;
            /**
             * @description Its brands with their major versions, in their order; one of them is no brand, so that no site counts
             *     on the list.
             * @default []
             */
            brands?: components["schemas"]["BrandVersion"][];
            /**
             * @description The same with whole versions.
             * @default []
             */
            fullVersionList?: components["schemas"]["BrandVersion"][];
            /**
             * @description Whether it asks for pages made for mobile devices.
             * @default false
             */
            mobile?: boolean;
            /**
             * @description The model of a mobile device.
             * @default
             */
            model?: string;
            /**
             * @description Its system, such as `macOS`, `Windows` or `Linux`.
             * @default
             */
            platform?: string;
            /**
             * @description The version of its system, such as `15.5.0`.
             * @default
             */
            platformVersion?: string;
            /**
             * @description Whether it is a program of 32 bits on a Windows of 64.
             * @default false
             */
            wow64?: boolean;
        };
        /**
         * @description How we know that an item is back.
         * @enum {string}
         */
        Verified: "page" | "disk" | "none";
        /** @description Which sites of a session, and which kinds of what a browser keeps, somebody sees of it. */
        View: {
            /** @description The kinds; left out, all of them. */
            kinds?: components["schemas"]["StateKind"][] | null;
            /** @description The registrable domains, or hosts that have none; left out, all of them. */
            sites?: string[] | null;
        };
        /** @description What a viewer tells the node. All but the first three are for who has taken over. */
        ViewerMessage: {
            /**
             * Format: int32
             * @description How high.
             */
            height: number;
            /** @enum {string} */
            type: "look";
            /**
             * Format: int32
             * @description How wide.
             */
            width: number;
        } | {
            /** @enum {string} */
            type: "rest";
        } | {
            /**
             * Format: int64
             * @description Its number.
             */
            number: number;
            /** @enum {string} */
            type: "drawn";
        } | {
            /** @description The person's name, among those of agents. */
            name: components["schemas"]["AgentName"];
            /** @description Why, for the log and for the agent. */
            reason?: string | null;
            /** @enum {string} */
            type: "take_over";
        } | {
            /** @enum {string} */
            type: "give_back";
        } | (components["schemas"]["LiveMouse"] & {
            /** @enum {string} */
            type: "mouse";
        }) | (components["schemas"]["LiveWheel"] & {
            /** @enum {string} */
            type: "wheel";
        }) | (components["schemas"]["LiveKey"] & {
            /** @enum {string} */
            type: "key";
        }) | {
            /**
             * Format: int32
             * @description Which tab.
             */
            tab: number;
            /** @description What. */
            text: string;
            /** @enum {string} */
            type: "text";
        } | {
            /**
             * Format: int32
             * @description Which tab.
             */
            tab: number;
            /** @description What. */
            text: string;
            /** @enum {string} */
            type: "compose";
        } | (components["schemas"]["LiveTouch"] & {
            /** @enum {string} */
            type: "touch";
        }) | {
            /**
             * Format: int32
             * @description Which tab.
             */
            tab: number;
            /** @enum {string} */
            type: "go";
            /** @description Where to. */
            url: string;
        } | {
            /**
             * Format: int32
             * @description How far.
             */
            by: number;
            /**
             * Format: int32
             * @description Which tab.
             */
            tab: number;
            /** @enum {string} */
            type: "step";
        } | {
            /**
             * Format: int32
             * @description Which tab.
             */
            tab: number;
            /** @enum {string} */
            type: "reload";
        } | {
            /** @enum {string} */
            type: "open_tab";
            /** @description Where it goes. */
            url: string;
        } | {
            /**
             * Format: int32
             * @description Which tab.
             */
            tab: number;
            /** @enum {string} */
            type: "close_tab";
        } | {
            /**
             * Format: int32
             * @description Which tab.
             */
            tab: number;
            /** @enum {string} */
            type: "front";
        } | {
            /** @description Whether it is accepted. */
            accept: boolean;
            /**
             * Format: int64
             * @description Which question.
             */
            question: number;
            /**
             * Format: int32
             * @description Which tab.
             */
            tab: number;
            /** @description What a `prompt` gets. */
            text?: string | null;
            /** @enum {string} */
            type: "answer";
        } | {
            /** @description Whether it may. */
            allow: boolean;
            /**
             * Format: int64
             * @description Which question.
             */
            question: number;
            /**
             * Format: int32
             * @description Which tab.
             */
            tab: number;
            /** @enum {string} */
            type: "permit";
        } | {
            /** @description Their names among the session's files. */
            files: string[];
            /**
             * Format: int64
             * @description Which question.
             */
            question: number;
            /**
             * Format: int32
             * @description Which tab.
             */
            tab: number;
            /** @enum {string} */
            type: "choose";
        };
        /** @description Inner size of a window, in CSS pixels. */
        Viewport: {
            /**
             * Format: int32
             * @description Pixels from top to bottom.
             */
            height: number;
            /**
             * Format: int32
             * @description Pixels from left to right.
             */
            width: number;
        };
        /** @description A display that a VNC viewer shows (RFB 3.8, RFC 6143). */
        Vnc: {
            /** @description An address of the node's own loopback, with its port. */
            address: string;
            /** @description The password, of 8 characters as the protocol has it; told to the sandbox's maker only, once. */
            password?: string | null;
        };
        /** @description What a sandbox may use. Left out is what the node's settings allow, which is also the most. */
        WantedLimits: {
            /**
             * Format: int64
             * @description Files in the workspace, in bytes.
             * @default null
             */
            disk?: number | null;
            /**
             * Format: int64
             * @description Memory of all processes and files, in bytes.
             * @default null
             */
            memory?: number | null;
            /**
             * Format: int32
             * @description Processes and threads.
             * @default null
             */
            processes?: number | null;
            /**
             * Format: double
             * @description Processors; 0.5 is half of one.
             * @default null
             */
            processors?: number | null;
        };
        /** @description A cocoon whose pages are watched. */
        WatchedCocoon: {
            /** @description Which one. */
            id: components["schemas"]["CocoonId"];
            /** @description What people call it. */
            name?: string | null;
            /** @description Scheme, host and port of its pages, such as `http://shop.localhost:8081`. */
            origin: string;
            /** @description With what the paths of its pages begin: `/`, or `/proxy/shop/`. */
            path: string;
        };
        /** @description What became of a session that a sandbox held. */
        WrittenBack: {
            /** @description What in the profile could not be taken over, and what of it was of sites that were not handed in. */
            leftOut: components["schemas"]["Receipt"];
            /** @description Why the one before stands, or why something may be missing in the new one. */
            reason?: string | null;
            /** @description Which session. */
            sessionId: components["schemas"]["SessionId"];
            /**
             * @description Whether more than half of the cookies or of the storage is gone, so that a resume passes the
             *     snapshot over.
             */
            shrunk: boolean;
            snapshot?: components["schemas"]["SnapshotId"] | null;
        };
        /** @description What a sandbox may use. */
        WrittenLimits: {
            /**
             * Format: int64
             * @description Files in the workspace, in bytes.
             */
            disk: number;
            /**
             * Format: int64
             * @description Memory of all processes and files, in bytes.
             */
            memory: number;
            /**
             * Format: int32
             * @description Processes and threads.
             */
            processes: number;
            /**
             * Format: double
             * @description Processors; 0.5 is half of one.
             */
            processors: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
