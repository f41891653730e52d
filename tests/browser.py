"""Drives a headless Chromium by its DevTools protocol, over pipes: messages of JSON that end with a zero byte."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class BrowserError(Exception):
    pass


def find():
    """The browser's program, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """A page in a browser of its own, with a fresh profile. Everything that the page asks of the network, says on its
    console or throws is kept in requests, said and errors."""

    def __init__(self, width=1280, height=900):
        self.folder = tempfile.mkdtemp(prefix="refrain-browser-")
        to_child, self.to = os.pipe()
        self.from_, from_child = os.pipe()
        # The protocol is on the descriptors 3 and 4.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_child, from_child)]
        self.process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe",
             f"--user-data-dir={self.folder}", f"--window-size={width},{height}", "--force-device-scale-factor=1",
             "--disable-background-networking", "--disable-component-update", "about:blank"],
            pass_fds=(3, 4), preexec_fn=lambda: [os.dup2(end, fd) for fd, end in enumerate(ends, 3)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (to_child, from_child, *ends):
            os.close(end)
        self.number, self.buffer, self.answers = 0, b"", {}
        self.requests, self.said, self.errors = [], [], []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.process.terminate()
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.from_)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, timeout=60, **params):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": params}
        if self.session and not method.startswith("Target."):
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + timeout
        while number not in self.answers:
            self.read(end - time.monotonic(), method)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def read(self, seconds, what):
        ready, _, _ = select.select([self.from_], [], [], max(0, seconds))
        if not ready:
            raise BrowserError(f"the browser does not answer: {what}")
        data = os.read(self.from_, 1 << 20)
        if not data:
            raise BrowserError(f"the browser has ended: {what}")
        *messages, self.buffer = (self.buffer + data).split(b"\0")
        for message in messages:
            self.take(json.loads(message))

    def take(self, message):
        if "id" in message:
            self.answers[message["id"]] = message
            return
        params = message.get("params", {})
        if message["method"] == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif message["method"] == "Runtime.consoleAPICalled":
            self.said.append(" ".join(str(arg.get("value", arg.get("description"))) for arg in params["args"]))
        elif message["method"] == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif message["method"] == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])

    # ---- what tests use ----

    def open(self, path, fragment=""):
        """Shows a file, and waits until the page says that it is ready."""
        self.call("Page.navigate", url="about:blank")
        self.requests.clear()
        self.call("Page.navigate", url=f"file://{os.path.abspath(path)}{fragment}")
        self.wait("document.documentElement?.dataset.ready", 60)

    def run(self, script):
        """The value of an expression, which may be a promise."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise BrowserError(f"{script}: {result['exceptionDetails']['exception'].get('description')}")
        return result["result"].get("value")

    def wait(self, script, seconds=20):
        """Until an expression is true: its value."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(script)
            if value:
                return value
            if time.monotonic() > end:
                raise BrowserError(f"after {seconds} s still not: {script}; errors: {self.errors}; the page says: {self.run('document.getElementById(`said`)?.textContent')}")
            time.sleep(0.05)

    def key(self, key, code=None, text=None):
        names = {"key": key, "code": code or key, **({"text": text or key} if len(key) == 1 else {})}
        self.call("Input.dispatchKeyEvent", type="keyDown", **names)
        self.call("Input.dispatchKeyEvent", type="keyUp", **{k: v for k, v in names.items() if k != "text"})

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, count=1):
        self.mouse("mousePressed", x, y, button="left", clickCount=count)
        self.mouse("mouseReleased", x, y, button="left", clickCount=count)

    def wheel(self, x, y, by):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=by)

    def screenshot(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
