import { launch, prefer, signIn } from "./chromium.mjs";
const site={base:process.env.BASE_URL,user:process.env.REEVE_USER,password:process.env.REEVE_PASSWORD};
const b=await launch(); const c=await b.newContext({viewport:{width:1360,height:1000}}); await prefer(c,"en","light"); const page=await c.newPage(); page.on("pageerror",e=>console.log(e.message)); await signIn(page,site);
const post=(body)=>page.evaluate(async(b)=>(await (await fetch("/api/v1/jobs",{method:"POST",headers:{"Content-Type":"application/json"},body:JSON.stringify(b)})).json()),body);
const get=(p)=>page.evaluate(async(p)=>(await (await fetch("/api/v1"+p)).json()),p);
const a=await post({name:"holder-a",team:"vision",gpus:8,priority:"normal",time_limit_secs:900,command:["sleep","800"]});
for(let i=0;i<60;i++){const j=await get("/jobs/"+a.id); if(j.state==="running"){console.log("a runs");break;} await page.waitForTimeout(1000);}
const w=await post({name:"waiter-b",team:"vision",gpus:8,evict_others:false,preemptible:false,time_limit_secs:600,command:["sleep","5"]});
let e; for(let i=0;i<30;i++){e=await get("/jobs/"+w.id+"/explain"); if(e.verdict) break; await page.waitForTimeout(500);}
console.log(JSON.stringify(e).slice(0,1500));
await page.goto(`${site.base}/jobs/${w.id}`); await page.waitForTimeout(2500); await page.screenshot({path:"/tmp/t/console/shots/job.png",fullPage:true});
const d=await b.newContext({viewport:{width:390,height:900}}); await prefer(d,"zh-CN","dark"); const p2=await d.newPage(); await signIn(p2,site); await p2.goto(`${site.base}/jobs/${w.id}`); await p2.waitForTimeout(2500); await p2.screenshot({path:"/tmp/t/console/shots/job-zh.png",fullPage:true}); console.log("wide", await p2.evaluate(()=>document.documentElement.scrollWidth-innerWidth));
await page.goto(`${site.base}/timeline?window=15m`); await page.waitForTimeout(2500); await page.screenshot({path:"/tmp/t/console/shots/planned2.png",fullPage:true});
for (const id of [a.id,w.id]) await page.evaluate(async(id)=>fetch(`/api/v1/jobs/${id}/cancel`,{method:"POST",headers:{"Content-Type":"application/json"},body:"{}"}),id);
await b.close();
