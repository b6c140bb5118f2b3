// Made from docs/reference/openapi.json by `npm run build` in extensions/types. Do not edit.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
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
        BTreeMap: {
            [key: string]: string;
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
        /**
         * @description Which cocoon. It stands in host names and in addresses, so it is one label of a host name: lower-case
         *     letters, digits and hyphens, neither first nor last a hyphen.
         */
        CocoonId: string;
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
        /**
         * @description How loud a line is.
         * @enum {string}
         */
        ConsoleLevel: "log" | "debug" | "info" | "warn" | "error";
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
        /**
         * @description Which way a message went.
         * @enum {string}
         */
        Direction: "sent" | "received";
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
        /**
         * Format: int64
         * @description Milliseconds since 1970 (UTC). Fractions, which some clocks of browsers give, are rounded.
         */
        EpochMs: number;
        /** @description The extension gives the code back. */
        ExchangePairing: {
            /** @description Which browser: the same as long as the extension is installed. 1 to 36 letters, digits and hyphens. */
            browser_id: string;
            /** @description As the person typed it; letters of either case, with or without the hyphen. */
            code: string;
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
        /** @description Names besides those that are known anyway: `[debug] redact`, at most 1,000 of each. */
        OwnNames: {
            /** @description Names whose values are none, unless they are known keys. */
            allow: string[];
            /** @description Names whose values are secrets. */
            names: string[];
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
        /**
         * @description What a request is for.
         * @enum {string}
         */
        ResourceType: "document" | "stylesheet" | "image" | "media" | "font" | "script" | "xhr" | "fetch" | "eventsource" | "websocket" | "manifest" | "ping" | "preflight" | "other";
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
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
